# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Whether two measurements of one idle machine agree: runs the quick set again and again and counts the
points whose printed intervals meet in each two runs, one after the other. And how long it takes, from the
start of the command to its end, and to its first figure: that of a run which has no time for a second one.

    python3 -B bench/measure.py --nodewise build/release/bin/nodewise --runs 4 --output bench/results/measure.json
"""

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import machine


def measure(command: str, folder: Path, number: int) -> tuple[dict, float]:
    file = folder / f"{number}.json"
    start = time.monotonic()
    subprocess.run([command, "measure", "--quiet", "--no-keep", "-o", str(file)], check=True)
    return json.loads(file.read_text()), time.monotonic() - start


def first_figure(command: str) -> float:
    start = time.monotonic()
    subprocess.run([command, "measure", "--only", "bandwidth", "--time", "0.001", "--json"], check=True, stdout=subprocess.DEVNULL)
    return time.monotonic() - start


def figures(result: dict) -> dict[tuple[str, str], dict]:
    return {(p["experiment"], p["label"]): p for p in result["points"] if "median" in p}


def meet(one: dict, other: dict) -> bool:
    return one["low"] <= other["high"] and other["low"] <= one["high"]


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--nodewise", required=True)
    options.add_argument("--runs", type=int, default=4)
    options.add_argument("--output", type=Path)
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        runs = [measure(given.nodewise, Path(folder), number) for number in range(given.runs)]
        firsts = sorted(first_figure(given.nodewise) for _ in range(6))
    pairs, apart = 0, []
    for (before, _), (after, _) in zip(runs, runs[1:]):
        ours, theirs = figures(before), figures(after)
        for key in ours.keys() & theirs.keys():
            pairs += 1
            if not meet(ours[key], theirs[key]):
                disturbed = [f"{p['stolen'] + p['others']:.0%}" for p in (ours[key], theirs[key]) if p["others"] != "unavailable"]
                apart.append(f"{': '.join(key)}: {ours[key]['median']:.3g} and {theirs[key]['median']:.3g} ({', '.join(disturbed)} to others)")
    seconds = sorted(time for _, time in runs)
    print(f"{pairs - len(apart)} of {pairs} pairs of intervals meet ({1 - len(apart) / pairs:.1%})")
    print(*(f"  {line}" for line in apart), sep="\n")
    print(f"the quick set took {seconds[0]:.1f} to {seconds[-1]:.1f} s")
    print(f"from its start to the first figure {firsts[0]:.2f} to {firsts[-1]:.2f} s, median {statistics.median(firsts):.2f}")
    if given.output:
        result = {"machine": machine.describe_machine(), "pairs": pairs, "apart": apart, "seconds": seconds,
                  "seconds_to_first_figure": firsts}  # fmt: skip
        given.output.write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    sys.exit(main())
