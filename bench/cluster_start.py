# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""How long it takes from `nodewise run --on lab:4x2+4x2 -- mpirun ...` to the first output of an MPI program.

Four ranks, two on each host, add up a number over the network; the first line that one of them prints is the end. The
snapshot is there. And without MPI: the first output of a shell command on the first and on the second host.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import time

from machine import describe_machine

RANK = "/usr/bin/python3 -IB " + str(pathlib.Path(__file__).resolve().parent.parent / "tests/lab/mpi_in_guest.py")
ROOT = " --allow-run-as-root" if os.getuid() == 0 else ""
CASES = {
    "a command on the first host": "echo here",
    "a command on the second host": "$HYDRA_LAUNCHER_EXEC host2 echo here",
    "Open MPI": f"mpirun.openmpi{ROOT} -n 4 --map-by ppr:2:node {RANK} openmpi",
    "MPICH": f"mpiexec.hydra -n 4 -ppn 2 {RANK} mpich",
}


def first_output(nodewise, machine, script):
    begin = time.perf_counter()
    process = subprocess.Popen([nodewise, "run", "--on", machine, "--", "sh", "-c", script], stdout=subprocess.PIPE,
                               stdin=subprocess.DEVNULL)
    line = process.stdout.readline()
    elapsed = time.perf_counter() - begin
    process.stdout.read()
    if process.wait() != 0 or not line:
        raise SystemExit(f"{script}: status {process.returncode}, output {line!r}")
    return elapsed


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--machine", default="lab:4x2+4x2")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    nodewise = os.path.abspath(arguments.nodewise)

    first_output(nodewise, arguments.machine, "echo here")  # makes the snapshot
    seconds = {name: [] for name in CASES}
    for _ in range(arguments.rounds):
        for name, script in CASES.items():
            seconds[name].append(first_output(nodewise, arguments.machine, script))
    for name, each in seconds.items():
        print(f"{name:30} median {statistics.median(each):6.2f} s   worst {max(each):6.2f} s")
    if arguments.output:
        rows = {name: {"median_s": round(statistics.median(each), 3), "worst_s": round(max(each), 3)}
                for name, each in seconds.items()}
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-cluster-start/1", "machine": describe_machine(),
                       "cluster": arguments.machine, "rounds": arguments.rounds, "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
