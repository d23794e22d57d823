# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The machine a result was taken on: a figure without it means nothing."""

import os
import pathlib
import platform
import subprocess


def version_of(package):
    try:
        answer = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", package], capture_output=True, text=True)
    except FileNotFoundError:
        return "unavailable"
    return answer.stdout or "unavailable"


def describe_machine():
    cpuinfo = pathlib.Path("/proc/cpuinfo").read_text()
    model = next((line.split(":", 1)[1].strip() for line in cpuinfo.splitlines() if line.startswith("model name")),
                 "unavailable")
    return {
        "processor": model,
        "processors": os.cpu_count(),
        "kernel": platform.release(),
        "virtual": "hypervisor" in cpuinfo,
        "load_before": os.getloadavg()[0],
        "numactl": version_of("numactl"),
        "hwloc": version_of("hwloc-nox"),
        "qemu": version_of("qemu-system-x86"),
    }
