# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the model takes to price 64 nodes x 64 processors: medians in milliseconds.

There is no peer that answers the same question; the bar is absolute, 10 ms on one core.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

from machine import describe_machine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the program model_price")
    parser.add_argument("--output", help="write the result as JSON")
    options = parser.parse_args()
    machine = describe_machine()
    result = {"benchmark": "model_price", "unit": "ms", "machine": machine, "questions": {}}
    for line in subprocess.check_output([options.program], text=True).splitlines():
        name, *turns = line.split("\t")
        turns = [float(turn) for turn in turns]
        result["questions"][name] = {"median": statistics.median(turns), "best": min(turns), "turns": len(turns)}
        print(f"{name:32} {statistics.median(turns):8.2f} ms (best {min(turns):.2f})")
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
