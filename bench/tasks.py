# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What a task of the library costs beside one of oneTBB's task_group.

A process runs both in turn, in rounds; a ratio is the library's time over oneTBB's in the same round, and
counts with the median of its process. Reported are the median of all processes' ratios and its 95 %
interval by order statistics.
"""

import argparse
import collections
import json
import pathlib
import statistics
import subprocess

from agent_overhead import summary
from machine import describe_machine, version_of

# At most so many times oneTBB's time.
BARS = {"add": 1.3, "add-and-run": None, "steal": 2.0}
ROUNDS = 15


def run(program):
    """By what is done: the rounds' times of the library and of oneTBB, in nanoseconds."""
    text = subprocess.run([program, str(ROUNDS)], capture_output=True, text=True, check=True).stdout
    found = collections.defaultdict(list)
    for line in text.splitlines():
        what, library, tbb = line.split()
        found[what].append((float(library), float(tbb)))
    return found


def row_of(what, processes):
    rounds = [each for process in processes for each in process[what]]
    ratios = [statistics.median(library / tbb for library, tbb in process[what]) for process in processes]
    return {
        "what": what,
        "library_ns": round(statistics.median(library for library, _ in rounds), 1),
        "tbb_ns": round(statistics.median(tbb for _, tbb in rounds), 1),
        "ratio": summary(ratios),
        "bar": BARS[what],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path)
    parser.add_argument("--processes", type=int, default=12)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    machine = describe_machine() | {"oneTBB": version_of("libtbb12"), "compiler": version_of("g++")}
    processes = [run(arguments.program.resolve()) for _ in range(arguments.processes)]
    rows = [row_of(what, processes) for what in BARS]
    print(f"{'a task':14}{'library ns':>12}{'oneTBB ns':>12}{'ratio':>8}  95 % interval  at most")
    for row in rows:
        ratio = row["ratio"]
        print(f"{row['what']:14}{row['library_ns']:>12}{row['tbb_ns']:>12}{ratio['median']:>8.3f}"
              f"  {ratio['low']:.3f}..{ratio['high']:.3f}  {row['bar'] or ''}")
    if arguments.output:
        result = {"schema": "nodewise/bench-tasks/1", "machine": machine, "results": rows}
        pathlib.Path(arguments.output).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
