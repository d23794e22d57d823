# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What a profile in the lab costs beside the counted run that it consists of: `nodewise profile --on` without the
proof against `nodewise run --on`, from the command to its end, alternately.

    bench/lab_profile.py --nodewise build/release/bin/nodewise stream=./stream lulesh='./lulesh -s 30 -i 4 -q'
"""

import argparse
import json
import pathlib
import shlex
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine

THREADS = "8"


def seconds(command: list[str]) -> float:
    begin = time.perf_counter()
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, check=False)
    elapsed = time.perf_counter() - begin
    if done.returncode != 0:
        raise SystemExit(f"{shlex.join(command)}: status {done.returncode}\n{done.stderr.decode()}")
    return elapsed


def measure(nodewise: str, machine: str, program: list[str], rounds: int) -> dict[str, list[float]]:
    found: dict[str, list[float]] = {"run": [], "profile": []}
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        common = ["--on", machine, "--quiet", "--threads", THREADS, "--bind", "close"]
        ways = {
            "run": ["run", *common, "--on-counts", f"{folder}/counts.json"],
            "profile": ["profile", *common, "--no-prove", "-o", f"{folder}/profile.json"],
        }
        for _ in range(rounds):
            for way, words in ways.items():
                found[way].append(seconds([nodewise, *words, "--", *program]))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--on", default="lab:opteron-4x2", metavar="lab:MACHINE")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--output", type=pathlib.Path)
    parser.add_argument("programs", nargs="+", metavar="NAME=COMMAND")
    asked = parser.parse_args()
    nodewise = str(pathlib.Path(asked.nodewise).resolve())
    results = {}
    for each in asked.programs:
        name, _, text = each.partition("=")
        found = measure(nodewise, asked.on, shlex.split(text), asked.rounds)
        ratios = [profile / run for run, profile in zip(found["run"], found["profile"], strict=True)]
        results[name] = {"command": text, "seconds": found, "ratio": statistics.median(ratios)}
        print(f"{name:16} run {statistics.median(found['run']):6.2f} s   profile "
              f"{statistics.median(found['profile']):6.2f} s   {results[name]['ratio']:.2f} times", flush=True)
    if asked.output:
        asked.output.write_text(json.dumps(
            {"schema": "nodewise/bench-lab-profile/1", "machine": describe_machine(), "lab": asked.on,
             "results": results}, indent=1) + "\n")


if __name__ == "__main__":
    main()
