# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""How long it takes from `nodewise run --on lab:4x2` to the program's first output.

First starts make the snapshot (in a cache of this script's own, the kernel is copied there), later
starts use it.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine


def first_output(nodewise, machine, cache):
    begin = time.perf_counter()
    process = subprocess.Popen([nodewise, "run", "--on", machine, "--", "echo", "here"], stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL, env=os.environ | {"NODEWISE_CACHE": str(cache)})
    line = process.stdout.readline()
    elapsed = time.perf_counter() - begin
    if process.wait() != 0 or line != b"here\n":
        raise SystemExit(f"{machine}: status {process.returncode}, output {line!r}")
    return elapsed


def default_cache():
    base = os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache"
    return pathlib.Path(os.environ.get("NODEWISE_CACHE") or pathlib.Path(base) / "nodewise")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--machine", default="lab:4x2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    nodewise = os.path.abspath(arguments.nodewise)

    subprocess.run([nodewise, "run", "--on", arguments.machine, "--", "true"], check=True)  # caches the kernel
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        cache = pathlib.Path(folder) / "cache"
        shutil.copytree(default_cache() / "kernels", cache / "kernels")
        first, later = [], []
        for _ in range(arguments.rounds):
            shutil.rmtree(cache / "snapshots", ignore_errors=True)
            first.append(first_output(nodewise, arguments.machine, cache))
            later.append(first_output(nodewise, arguments.machine, cache))
    rows = {"first start": first, "from the snapshot": later}
    for name, seconds in rows.items():
        print(f"{name:20} median {statistics.median(seconds):6.2f} s   worst {max(seconds):6.2f} s")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-lab-start/1", "machine": describe_machine(),
                       "lab": arguments.machine, "rounds": arguments.rounds,
                       "results": {name: {"median_s": round(statistics.median(s), 3), "worst_s": round(max(s), 3)}
                                   for name, s in rows.items()}}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
