# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Products with sparse matrices beside the plain OpenMP loop (GCC, -O3 -march=native), in one process.

A ratio is the loop's time over the library's, of the same round; reported are the median and its 95 %
interval by order statistics. The roofline is the time that reading the same number of bytes takes, by a
sum over the values of the matrix: a matrix that fits the caches has another roof than one that does not.
"""

import argparse
import json
import pathlib
import statistics
import subprocess

from agent_overhead import summary
from machine import describe_machine

ROW_BYTES = 4 + 8 + 8  # its start, the result, an element of x
ENTRY_BYTES = 8 + 4


def roofline_share(matrix, party):
    """Of the bandwidth of reading, by medians; 1 is all of it."""
    bytes_read = matrix["entries"] * 8
    bytes_moved = matrix["entries"] * ENTRY_BYTES + matrix["rows"] * ROW_BYTES
    read = bytes_read / statistics.median(matrix["s"]["read"])
    return bytes_moved / statistics.median(matrix["s"][party]) / read


def row_of(matrix):
    seconds = matrix["s"]
    return {key: matrix[key] for key in ("matrix", "rows", "entries", "occupancy")} | {
        party: {"ratio": summary([plain / ours for plain, ours in zip(seconds["openmp"], seconds[party], strict=True)]),
                "of_roofline": round(roofline_share(matrix, party), 3)}
        for party in ("crs", "sell")
    }  # fmt: skip


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path, help="bench/sparse of the build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    text = subprocess.run([arguments.program, str(arguments.rounds)], capture_output=True, text=True, check=True).stdout
    rows = [row_of(json.loads(line)) for line in text.splitlines()]
    print(f"{'matrix':28}{'entries':>10}  {'CRS':>6} interval      roof  {'SELL':>6} interval      roof  occupancy")
    for row in rows:
        print(f"{row['matrix']:28}{row['entries']:>10}", *(
            f" {row[party]['ratio']['median']:6.2f} {row[party]['ratio']['low']:.2f} to {row[party]['ratio']['high']:.2f}"
            f"  {100 * row[party]['of_roofline']:3.0f} %" for party in ("crs", "sell")), f"  {row['occupancy']:.2f}")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-sparse/1", "machine": describe_machine(), "rounds": arguments.rounds,
                       "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
