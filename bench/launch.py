# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""How long a program takes to start under nodewise, numactl and hwloc-bind.

Every round starts each command once, in shuffled order, so that a drift of the machine's speed meets
all of them. Reported: medians and the ratio to numactl, pair by pair.
"""

import argparse
import json
import os
import random
import statistics
import time

from machine import describe_machine


def commands(nodewise):
    return {
        "true": ["true"],
        "numactl -N 0 -m 0": ["numactl", "-N", "0", "-m", "0", "true"],
        "nodewise run -N 0 -m 0": [nodewise, "run", "-N", "0", "-m", "0", "--", "true"],
        "nodewise run --memory blocked --bind close":
            [nodewise, "run", "--memory", "blocked", "--bind", "close", "--", "true"],
        "hwloc-bind node:0": ["hwloc-bind", "--membind", "node:0", "--cpubind", "node:0", "--", "true"],
    }


def start_once(argv):
    """Milliseconds from before the spawn to after the wait."""
    begin = time.perf_counter_ns()
    pid = os.posix_spawnp(argv[0], argv, os.environ)
    _, status = os.waitpid(pid, 0)
    elapsed = (time.perf_counter_ns() - begin) / 1e6
    if status != 0:
        raise SystemExit(f"{' '.join(argv)}: wait status {status}")
    return elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--output")
    arguments = parser.parse_args()

    cases = commands(os.path.abspath(arguments.nodewise))
    times = {name: [] for name in cases}
    for argv in cases.values():
        start_once(argv)
    for _ in range(arguments.rounds):
        for name in random.sample(list(cases), len(cases)):
            times[name].append(start_once(cases[name]))

    peer = times["numactl -N 0 -m 0"]
    rows = {}
    print(f"{'median ms':>10}  {'to numactl':>10}  command")
    for name, ms in times.items():
        ratio = statistics.median(mine / theirs for mine, theirs in zip(ms, peer))
        rows[name] = {"median_ms": round(statistics.median(ms), 4), "ratio_to_numactl": round(ratio, 4)}
        print(f"{rows[name]['median_ms']:>10.3f}  {ratio:>10.2f}  {name} -- true")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-launch/1", "machine": describe_machine(),
                       "rounds": arguments.rounds, "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
