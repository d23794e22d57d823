# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What counting costs: the triad in a guest that is counted against the same guest that is not, taking
turns; and how long a counted first-touch of 64 MiB arrays takes on 4x2 from start to end."""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine

HERE = pathlib.Path(__file__).resolve().parent
THREADS = {"OMP_NUM_THREADS": "8", "OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}


def run(nodewise, machine, folder, options, *command):
    """The command's output and the seconds from start to end."""
    begin = time.perf_counter()
    done = subprocess.run([nodewise, "run", "--on", machine, *options, "--", *map(str, command)], cwd=folder,
                          capture_output=True, text=True, check=False, env=os.environ | THREADS,
                          stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{machine}: status {done.returncode}\n{done.stderr}")
    return done.stdout, time.perf_counter() - begin


def triad(nodewise, machine, folder, options):
    return float(run(nodewise, machine, folder, options, folder / "triad")[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--output")
    arguments = parser.parse_args()
    nodewise = os.path.abspath(arguments.nodewise)
    first_touch = pathlib.Path(nodewise).parent.parent / "examples/first-touch/first-touch"
    results = {}
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
        folder = pathlib.Path(name)
        subprocess.run(["gcc", "-O2", "-fopenmp", "-o", folder / "triad", HERE / "lab_counter.c"], check=True)
        for machine in ("lab:opteron-4x2", "lab:nehalem-2x4"):
            pairs = []
            for _ in range(arguments.rounds):
                plain = triad(nodewise, machine, folder, ["--on-no-count"])
                counted = triad(nodewise, machine, folder, ["--on-counts", "counts.json", "--quiet"])
                pairs.append(counted / plain)
            results[machine] = {"counted_to_plain": {"median": round(statistics.median(pairs), 3),
                                                     "least": round(min(pairs), 3), "most": round(max(pairs), 3)}}
            print(f"{machine:16} counted / not counted: median {statistics.median(pairs):.2f}, "
                  f"{min(pairs):.2f} to {max(pairs):.2f}")
        seconds = run(nodewise, "lab:4x2", folder, ["--on-counts", "counts.json"], first_touch, 64, 3)[1]
        results["first-touch 64 MiB on lab:4x2"] = {"seconds": round(seconds, 2)}
        print(f"first-touch, 3 x 64 MiB, 3 sweeps, lab:4x2, counted: {seconds:.1f} s in all")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-lab-counter/1", "machine": describe_machine(),
                       "rounds": arguments.rounds, "results": results}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
