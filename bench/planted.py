# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""How often `nodewise tune` finds what is planted in small programs (bench/planted/*.c).

    bench/planted.py --nodewise build/release/bin/nodewise [--tries 20] [--only scales ...] [--output FILE]

A try is one call of tune, with 12 runs of a setting at most. The programs take turns, in random order. The planted
difference is 25 % or more; `insensitive` has none, and each answer but "use another setting" is right. `wrong` is
fastest under settings that change its result: they must be out, and no other setting may be chosen.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine

HERE = pathlib.Path(__file__).resolve().parent
ONE, TWO = ["--threads 1", "--threads 1 --bind close"], ["--threads 2", "--threads 2 --bind close"]
OTHER = ["--memory interleave", "--bind close"]
HUGE = ["--huge-pages on"]
# Name -> threads as it is, settings that may be chosen (none: as it is), the other settings, options of tune.
PROGRAMS = {
    "scales": (1, TWO, [*ONE, *OTHER], []),
    "fights": (2, ONE, [*TWO, *OTHER], []),
    "scattered": (1, HUGE, [*ONE, *OTHER], ["--figure", "reads: ([0-9.]+) s"]),
    "insensitive": (1, [], [*ONE, *TWO, *OTHER], []),
    "wrong": (1, [], [*TWO, "--threads 1 --bind close", *OTHER], ["--same-output"]),
}


def tune(nodewise, folder, name):
    threads, best, others, options = PROGRAMS[name]
    (folder / "settings").write_text("\n".join(random.sample([*best, *others], len(best) + len(others))) + "\n")
    begin = time.perf_counter()
    done = subprocess.run(
        [nodewise, "tune", "--json", "--runs", "12", "--candidates", folder / "settings", *options, "--", folder / name],
        env=os.environ | {"OMP_NUM_THREADS": str(threads)}, capture_output=True, text=True)
    if done.returncode != 0:
        raise SystemExit(f"{name}: exit code {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout), time.perf_counter() - begin


def is_right(name, result):
    _, best, _, _ = PROGRAMS[name]
    states = {each["setting"]: each["state"] for each in result["candidates"]}
    if name == "wrong" and any(states[each] != "disqualified" for each in TWO):
        return False
    chosen = result["candidates"][result["chosen"]]["setting"]
    return chosen in best if best else chosen == "as it is"


def kept(name, result, seconds):
    """A try as it is in the JSON."""
    gain = result.get("gain", {}).get("ratio")
    figures = {each["setting"]: each["figures"] for each in result["candidates"]}
    return {"right": is_right(name, result), "verdict": result["verdict"],
            "chosen": result["candidates"][result["chosen"]]["setting"], "gain": gain, "p": result.get("p"),
            "runs": result["runs"], "seconds": round(seconds, 2), "figures": figures}


def compiled(folder, names):
    for name in names:
        subprocess.run(["cc", "-O2", "-fopenmp", "-o", folder / name, HERE / "planted" / f"{name}.c"], check=True)


def programs_of(asked):
    names = asked.only or list(PROGRAMS)
    help_text = subprocess.run([asked.nodewise, "run", "--help"], capture_output=True, text=True, check=True).stdout
    if "scattered" in names and "--huge-pages" not in help_text:
        print("scattered is skipped: nodewise run has no option --huge-pages")
        names = [each for each in names if each != "scattered"]
    return names


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--tries", type=int, default=20)
    parser.add_argument("--only", nargs="+", choices=PROGRAMS, metavar="NAME")
    parser.add_argument("--output")
    asked = parser.parse_args()
    names = programs_of(asked)
    machine = describe_machine()
    tries = {name: [] for name in names}
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as temporary:
        folder = pathlib.Path(temporary)
        compiled(folder, names)
        for _ in range(asked.tries):
            for name in random.sample(names, len(names)):
                tries[name].append(kept(name, *tune(asked.nodewise, folder, name)))
    print(f"{'program':12}{'right':>10}{'runs':>6}{'s':>7}  verdicts")
    for name, all_tries in tries.items():
        verdicts = [each["verdict"] for each in all_tries]
        counts = ", ".join(f"{each} {verdicts.count(each)}" for each in sorted(set(verdicts)))
        right = f"{sum(each['right'] for each in all_tries)} of {len(all_tries)}"
        print(f"{name:12}{right:>10}{statistics.median(each['runs'] for each in all_tries):>6.0f}"
              f"{statistics.median(each['seconds'] for each in all_tries):>7.1f}  {counts}")
    if asked.output:
        result = {"schema": "nodewise/bench-planted/1", "machine": machine, "tries": asked.tries,
                  "results": {name: {"right": sum(each["right"] for each in all_tries), "of": len(all_tries),
                                     "tries": all_tries} for name, all_tries in tries.items()}}
        pathlib.Path(asked.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
