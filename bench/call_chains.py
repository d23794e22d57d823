# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the call chain of a copied stack takes, with and without names: medians in microseconds.

The bar is absolute: 30 us a chain, so that a copy with every 31st of a million page faults is no
more than a second.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

from machine import describe_machine


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", required=True, help="the program call_chains")
    parser.add_argument("--output", help="write the result as JSON")
    options = parser.parse_args()
    machine = describe_machine()
    result = {"benchmark": "call_chains", "unit": "us", "machine": machine, "questions": {}}
    for line in subprocess.check_output([options.program], text=True).splitlines():
        name, *turns = line.split("\t")
        turns = [float(turn) for turn in turns]
        result["questions"][name] = {"median": statistics.median(turns), "best": min(turns), "turns": len(turns)}
        print(f"{name:32} {statistics.median(turns):8.2f} us (best {min(turns):.2f})")
    if options.output:
        pathlib.Path(options.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
