# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise tune` on virtual machines against an exhaustive search: the figures are the model's predicted seconds.

    bench/tune_lab.py --nodewise build/release/bin/nodewise --on lab:opteron-4x2 --program NAME='COMMAND' ...
        [--repeat 8] [--jobs 2] [--settings FILE] [--output FILE] [--reuse FILE]

For each program and machine, every setting runs --repeat times in random order, --jobs machines at once. Then tune
chooses. Its choice is good if its median figure in the exhaustive search is within 2 % of the best setting's median,
and cheap if tune needs at most a third of the runs. The settings are those of `nodewise tune --on ... --dry-run`, or
those in FILE, one on each line; the program as it is always takes part. The search runs each setting as often as tune
may (8 times in a virtual machine). --reuse takes the exhaustive search of programs and machines from an earlier result.
Without tune's option --on, only the exhaustive search is done.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import random
import shlex
import statistics
import subprocess
import tempfile

from machine import describe_machine

AS_IT_IS = "as it is"
WITHIN = 0.02
SHARE_OF_RUNS = 1 / 3


def output_of(command):
    done = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(map(str, command))}: exit code {done.returncode}\n{done.stderr}")
    return done.stdout


def predicted_seconds(nodewise, machine, setting, program):
    """The sum over all regions that the model predicts."""
    options = [] if setting == AS_IT_IS else shlex.split(setting)
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        counts = pathlib.Path(folder) / "counts.json"
        output_of([nodewise, "run", "--on", machine, "--on-counts", counts, "--quiet", *options, "--", *program])
        regions = json.loads(counts.read_text()).get("predicted", [])
    seconds = [each["seconds"] for each in regions]
    if not seconds or "unavailable" in seconds:
        raise SystemExit(f"{shlex.join(program)} on {machine}: no time is predicted; choose a machine with bandwidths")
    return sum(seconds)


def settings_of(asked, machine, program):
    if asked.settings:
        lines = [line.split("#")[0].strip() for line in asked.settings.read_text().splitlines()]
        return [AS_IT_IS, *(each for each in lines if each and each != AS_IT_IS)]
    return output_of([asked.nodewise, "tune", "--on", machine, "--dry-run", "--", *program]).splitlines()


def exhaustive(asked, machine, program, settings):
    """Setting -> its figures."""
    todo = random.sample(settings * asked.repeat, len(settings) * asked.repeat)
    figures = {each: [] for each in settings}
    with concurrent.futures.ThreadPoolExecutor(asked.jobs) as pool:
        for setting, seconds in zip(todo, pool.map(
                lambda each: predicted_seconds(asked.nodewise, machine, each, program), todo)):
            figures[setting].append(seconds)
    return figures


def compared(figures, tuned):
    medians = {setting: statistics.median(of) for setting, of in figures.items()}
    chosen = tuned["candidates"][tuned["chosen"]]["setting"]
    to_best = medians[chosen] / min(medians.values())
    runs = sum(len(each["figures"]) for each in tuned["candidates"])
    share = runs / sum(map(len, figures.values()))
    return {"verdict": tuned["verdict"], "chosen": chosen, "to_best": round(to_best, 4), "runs": runs,
            "share_of_runs": round(share, 3), "good": to_best <= 1 + WITHIN, "cheap": share <= SHARE_OF_RUNS,
            "figures": {each["setting"]: each["figures"] for each in tuned["candidates"]}}


def examine(asked, has_tune, name, command, machine):
    program = shlex.split(command)
    settings = settings_of(asked, machine, program)
    figures = asked.known.get((name, machine)) or exhaustive(asked, machine, program, settings)
    best = min(figures, key=lambda each: statistics.median(figures[each]))
    made = {"program": name, "command": command, "on": machine, "best": best, "exhaustive": figures}
    if has_tune:
        tries = asked.settings and ["--candidates", asked.settings]
        made["tune"] = compared(figures, json.loads(output_of(
            [asked.nodewise, "tune", "--on", machine, "--json", *(tries or []), "--", *program])))
    return made


def show(made):
    medians = {setting: statistics.median(of) for setting, of in made["exhaustive"].items()}
    least = min(medians.values())
    print(f"{made['program']} on {made['on']}")
    for setting in sorted(medians, key=medians.get):
        print(f"  {medians[setting]:12.6f} s {medians[setting] / least:8.3f}  {setting}")
    if tuned := made.get("tune"):
        print(f"  tune: {tuned['verdict']}, {tuned['chosen']}: {tuned['to_best']:.3f} of the best "
              f"({'good' if tuned['good'] else 'not good'}), {tuned['runs']} runs, {tuned['share_of_runs']:.2f} of "
              f"the exhaustive search ({'cheap' if tuned['cheap'] else 'not cheap'})")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--program", action="append", required=True, metavar="NAME=COMMAND")
    parser.add_argument("--on", action="append", required=True, metavar="lab:NAME")
    parser.add_argument("--repeat", type=int, default=8)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--settings", type=pathlib.Path)
    parser.add_argument("--output")
    parser.add_argument("--reuse", type=pathlib.Path)
    asked = parser.parse_args()
    earlier = json.loads(asked.reuse.read_text())["results"] if asked.reuse else []
    asked.known = {(each["program"], each["on"]): each["exhaustive"] for each in earlier}
    asked.nodewise = os.path.abspath(asked.nodewise)
    machine = describe_machine()
    has_tune = "--on lab:" in output_of([asked.nodewise, "tune", "--help"])
    if not has_tune:
        print("tune has no option --on: only the exhaustive search is done")
        if not asked.settings:
            raise SystemExit("name the settings by --settings FILE")
    results = []
    for on in asked.on:
        for each in asked.program:
            results.append(examine(asked, has_tune, *each.split("=", 1), on))
            show(results[-1])
            if asked.output:  # after each, because a machine takes long
                result = {"schema": "nodewise/bench-tune-lab/1", "machine": machine, "repeat": asked.repeat,
                          "results": results}
                pathlib.Path(asked.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
