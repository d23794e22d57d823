# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""How long a program takes to start under the command of a package and under that of `make build`.

Every round starts each command once, in shuffled order, so that a drift of the machine's speed meets all of them.
Reported: medians, and the median of the ratios of package to build, pair by pair. `packaged` is the command in the
folder into which a package of `make dist` was installed or unpacked.
"""

import argparse
import json
import os
import random
import statistics

from launch import start_once
from machine import describe_machine

OPTIONS = {
    "nodewise run": [],
    "nodewise run --memory blocked --bind close": ["--memory", "blocked", "--bind", "close"],
}


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--built", required=True)
    parser.add_argument("--packaged", required=True)
    parser.add_argument("--rounds", type=int, default=300)
    parser.add_argument("--output")
    arguments = parser.parse_args()

    commands = {"built": os.path.abspath(arguments.built), "packaged": os.path.abspath(arguments.packaged)}
    cases = {
        (name, kind): [command, "run", *options, "--", "true"]
        for name, options in OPTIONS.items()
        for kind, command in commands.items()
    }
    times = {case: [] for case in cases}
    for argv in cases.values():
        start_once(argv)
    for _ in range(arguments.rounds):
        for case in random.sample(list(cases), len(cases)):
            times[case].append(start_once(cases[case]))

    rows = {}
    print(f"{'built ms':>10}  {'packaged ms':>11}  {'ratio':>6}  command")
    for name in OPTIONS:
        built, packaged = times[name, "built"], times[name, "packaged"]
        ratios = sorted(mine / theirs for mine, theirs in zip(packaged, built))
        rows[name] = {
            "built_median_ms": round(statistics.median(built), 4),
            "packaged_median_ms": round(statistics.median(packaged), 4),
            "ratio": round(statistics.median(ratios), 4),
        }
        print("{built_median_ms:>10.3f}  {packaged_median_ms:>11.3f}  {ratio:>6.3f}  ".format(**rows[name]) + f"{name} -- true")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-launch-packaged/1", "machine": describe_machine(),
                       "rounds": arguments.rounds, "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
