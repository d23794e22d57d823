# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Processor time of a start of /bin/true: plain, with the agent that places, and as `profile` starts it.

All variants start in turn, in random order in each round; the median of the rounds is shown. "held" is
a profile where the kernel's NUMA balancing is on, which has a thread of its own for programs with arrays.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import tempfile

from machine import describe_machine

REPORT_BYTES = 64 << 20


def variants(folder, report):
    agent = folder / "libnodewise-agent.so"
    both = f"{agent}:{folder / 'libnodewise-trace.so'}"
    trace = f"v3;threshold=1048576;group=256;observe;trace;report={report}"
    return {
        "plain": {},
        "blocked": {"LD_PRELOAD": str(agent), "NODEWISE_AGENT": "v3;threshold=1048576;group=256;owners=0,0;default=blocked"},
        "profile": {"LD_PRELOAD": both, "NODEWISE_AGENT": trace},
        "profile, held": {"LD_PRELOAD": both, "NODEWISE_AGENT": f"{trace};numa-pin"},
    }


def start(variables, count):
    """Microseconds of processor time of one start, of `count`."""
    used = 0.0
    for _ in range(count):
        pid = os.posix_spawn("/bin/true", ["/bin/true"], os.environ | variables)
        _, status, usage = os.wait4(pid, 0)
        if status != 0:
            raise SystemExit(f"/bin/true: wait status {status}")
        used += usage.ru_utime + usage.ru_stime
    return used / count * 1e6


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", required=True, help="libnodewise-agent.so, beside libnodewise-trace.so")
    parser.add_argument("--rounds", type=int, default=25)
    parser.add_argument("--starts", type=int, default=40, help="of each variant in a round: 1000 in all by default")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    with tempfile.NamedTemporaryFile(prefix="nodewise-report-") as report:
        os.posix_fallocate(report.fileno(), 0, REPORT_BYTES)
        each = variants(pathlib.Path(arguments.agent).resolve().parent, report.name)
        us = {name: [] for name in each}
        for _ in range(arguments.rounds):
            for name in random.sample(list(each), len(each)):
                us[name].append(start(each[name], arguments.starts))
    median = {name: round(statistics.median(values)) for name, values in us.items()}
    for name, value in median.items():
        print(f"{name:16}{value:6} us   x {value / median['plain']:.2f}")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-agent-starts/1", "machine": describe_machine(),
                       "rounds": arguments.rounds, "starts": arguments.starts, "us": median}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
