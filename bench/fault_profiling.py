# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What it costs a program that its page faults are sampled, in its own processor time.

Inside one thread, each round measures every way once, in random order: fresh pages of 4 KiB without an
event; with perf's samples of each fault (instruction, thread, time, address), with stack copies, with
the call chain of 19 frames that frame pointers give; and with a SIGSEGV handler that unprotects one
page at a time, which is what a profiler without perf does. Reported are medians of the differences from
the bare fault of the same round: what a way adds to a fault. "x cheaper" compares what the handler adds
with what a sample adds.

Then the same loop runs under whole profilers, with their reading and writing on another processor:
Nodewise's recorder and `perf record`, alternating.
"""

import argparse
import json
import os
import pathlib
import random
import shutil
import statistics
import subprocess
import tempfile

from machine import describe_machine, version_of

BARS = {"samples": 0.25, "samples with user call chain": 0.80}
LEAST_CHEAPER = 8


def inside(program, rounds):
    lines = subprocess.run([program, "inside", str(rounds)], capture_output=True, text=True, check=True).stdout
    by_round = {}
    for line in lines.splitlines():
        number, way, ns = line.split("\t")
        by_round.setdefault(int(number), {})[way] = float(ns)
    bare = statistics.median(each["no event"] for each in by_round.values())
    ways = {}
    for way in by_round[0]:
        added = statistics.median(each[way] - each["no event"] for each in by_round.values())
        ways[way] = {"ns_added": round(added, 1), "share_added": round(added / bare, 4)}
    del ways["no event"]
    return {"ns_bare_fault": round(bare, 1), "ways": ways,
            "handler_over_sample": round(ways["SIGSEGV handler"]["ns_added"] / ways["samples"]["ns_added"], 2)}


def profilers(program, folder):
    loop = [program, "touch", "101"]
    ways = {"alone": loop,
            "nodewise, no stacks": [program, "record", "0", *loop],
            "nodewise, stacks": [program, "record", "2048", *loop]}
    if shutil.which("perf"):
        record = ["perf", "record", "-q", "-e", "page-faults", "-c", "1", "-o", folder / "perf.data"]
        ways["perf record -d"] = [*record, "-d", "--", *loop]
        ways["perf record -g"] = [*record, "-g", "--", *loop]
    return ways


def around(program, rounds, folder):
    ways = profilers(program, folder)
    found = {way: [] for way in ways}
    losses = {}
    for _ in range(rounds):
        for way in random.sample(list(ways), len(ways)):
            done = subprocess.run([str(word) for word in ways[way]], capture_output=True, text=True, check=True)
            found[way].append(float(done.stdout.split()[0]))
            if way.startswith("nodewise"):
                losses[way] = losses.get(way, 0) + int(done.stderr.split("\t")[1])
    medians = {way: statistics.median(values) for way, values in found.items()}
    return {way: {"ns_fault": round(ns, 1), "share_added": round(ns / medians["alone"] - 1, 4),
                  **({"lost": losses[way]} if way in losses else {})} for way, ns in medians.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--program", required=True, help="the built fault_profiling")
    parser.add_argument("--rounds", type=int, default=101)
    parser.add_argument("--runs", type=int, default=7, help="of each whole profiler")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)
    found = inside(program, arguments.rounds)
    print(f"a bare fault: {found['ns_bare_fault']:.0f} ns")
    for way, cost in found["ways"].items():
        bar = f"   bar {BARS[way]:+.0%}" if way in BARS else ""
        print(f"  {way:30} {cost['ns_added']:+7.0f} ns  {cost['share_added']:+7.1%}{bar}")
    print(f"  a handler adds {found['handler_over_sample']:.1f} times what a sample adds   bar {LEAST_CHEAPER}")
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
        whole = around(program, arguments.runs, pathlib.Path(name))
    for way, cost in whole.items():
        lost = f"   {cost['lost']} lost" if "lost" in cost else ""
        print(f"  {way:30} {cost['ns_fault']:7.0f} ns  {cost['share_added']:+7.1%}{lost}")
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-fault-profiling/1",
                       "machine": describe_machine() | {"perf": version_of("linux-perf")},
                       "rounds": arguments.rounds, "inside": found, "profilers": whole}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
