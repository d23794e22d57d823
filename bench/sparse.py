# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Products with sparse matrices beside other ways, in one process, all compiled with -O3 -march=native: the plain OpenMP loop,
Eigen 3.4 if the build found it, and MKL if --mkl names its libmkl_rt.so.

A ratio is the other way's time over the library's, of the same round; reported are the median and its 95 % interval by
order statistics. The roofline is the time that reading the same number of bytes takes, by a sum over the values of the
matrix: a matrix that fits the caches has another roof than one that does not.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess

from agent_overhead import summary
from machine import describe_machine

ROW_BYTES = 4 + 8 + 8  # its start, the result, an element of x
ENTRY_BYTES = 8 + 4
OURS = ("crs", "sell")
PEERS = ("openmp", "eigen", "mkl")


def roofline_share(matrix, party):
    """Of the bandwidth of reading, by medians; 1 is all of it."""
    bytes_read = matrix["entries"] * 8
    bytes_moved = matrix["entries"] * ENTRY_BYTES + matrix["rows"] * ROW_BYTES
    read = bytes_read / statistics.median(matrix["s"]["read"])
    return bytes_moved / statistics.median(matrix["s"][party]) / read


def row_of(matrix):
    seconds = matrix["s"]
    made = {key: matrix[key] for key in ("matrix", "rows", "entries", "occupancy")}
    for party in OURS:
        made[party] = {"of_roofline": round(roofline_share(matrix, party), 3)} | {
            peer: summary([other / own for other, own in zip(seconds[peer], seconds[party], strict=True)])
            for peer in PEERS
            if peer in seconds
        }  # fmt: skip
    return made


def print_rows(rows):
    for row in rows:
        print(f"{row['matrix']}, {row['entries']} entries, occupancy {row['occupancy']:.2f}")
        for party in OURS:
            ratios = ", ".join(f"{peer} {each['median']:.2f} ({each['low']:.2f} to {each['high']:.2f})"
                               for peer, each in row[party].items() if peer in PEERS)  # fmt: skip
            print(f"  {party:4}  roofline {100 * row[party]['of_roofline']:3.0f} %; {ratios}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, type=pathlib.Path, help="bench/sparse of the build")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--mkl", help="the file libmkl_rt.so")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    environment = os.environ | {"MKL_THREADING_LAYER": "GNU"}
    if arguments.mkl:
        environment["NODEWISE_BENCH_MKL"] = arguments.mkl
    text = subprocess.run([arguments.program, str(arguments.rounds)], capture_output=True, text=True, check=True,
                          env=environment).stdout  # fmt: skip
    rows = [row_of(json.loads(line)) for line in text.splitlines()]
    print_rows(rows)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-sparse/2", "machine": describe_machine(), "rounds": arguments.rounds,
                       "results": rows}, f, indent=1)
            f.write("\n")


if __name__ == "__main__":
    main()
