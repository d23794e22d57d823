# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Records how the time of real programs varies from run to run, for simulated races (races.cpp).

    bench/noise.py --program NAME='COMMAND' ... [--runs 200] [--output bench/data/noise.json]

The programs take turns, in random order, so that a disturbance of the machine meets all of them.
Kept are the wall times in seconds, in the order of the runs, and when each run began.
"""

import argparse
import json
import os
import pathlib
import random
import shlex
import subprocess
import time

from machine import describe_machine


def seconds(argv, environment):
    begin = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True, env=environment)
    return time.perf_counter() - begin


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--runs", type=int, default=200)
    parser.add_argument("--output", type=pathlib.Path, default=pathlib.Path(__file__).parent / "data" / "noise.json")
    asked = parser.parse_args()
    programs = dict(each.split("=", 1) for each in asked.program)
    environment = {**os.environ, "OMP_NUM_THREADS": str(os.cpu_count())}
    times = {name: [] for name in programs}
    begins = {name: [] for name in programs}
    start = time.perf_counter()
    for done in range(asked.runs):
        for name in random.sample(list(programs), len(programs)):
            begins[name].append(round(time.perf_counter() - start, 3))
            times[name].append(round(seconds(shlex.split(programs[name]), environment), 6))
        print(f"\r{done + 1} of {asked.runs} rounds", end="", flush=True)
    print()
    asked.output.parent.mkdir(exist_ok=True)
    result = {
        "machine": describe_machine(),
        "programs": [
            {"name": name, "command": pathlib.Path(shlex.split(command)[0]).name, "begin_s": begins[name],
             "seconds": times[name]}
            for name, command in programs.items()
        ],
    }
    asked.output.write_text(json.dumps(result) + "\n")


if __name__ == "__main__":
    main()
