# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the library's loops take beside the same loops written by hand, in one run.

A family of benchmarks is one process: each of its parties runs some times, in random order, and has
the least of its times, since other programs on the machine only ever add. A ratio is the peer's time
over the library's, from one process; reported are the median of all processes' ratios and its 95 %
interval by order statistics. Families alternate in random order, so that a drift of the machine's
speed meets all of them. Each process takes its memory anew, so that luck with pages meets all alike.
"""

import argparse
import collections
import json
import os
import pathlib
import random
import statistics
import subprocess
import time

from agent_overhead import summary
from machine import describe_machine, version_of

# A family: the program and the first part of the benchmarks' names; then how often each party runs in a
# process.
FAMILIES = {
    ("openmp", "copy"): 15, ("openmp", "triad"): 15, ("openmp", "vector_triad"): 15,
    ("openmp", "reduce"): 15, ("openmp", "chunks"): 9, ("openmp", "entry"): 9,
    ("tbb", "copy"): 15, ("tbb", "triad"): 15, ("tbb", "vector_triad"): 15, ("tbb", "entry"): 9,
    ("fresh", "fresh"): 1,
}
# Of the rounds, only every so many has this one: it takes long.
SELDOM = {("fresh", "fresh"): 4}

Ratio = collections.namedtuple("Ratio", "family ours peer bar what")

RATIOS = [
    Ratio((runtime, loop), ours, peer, bar, f"{loop.replace('_', ' ')}, {what}")
    for runtime in ("openmp", "tbb")
    for loop in ("copy", "triad", "vector_triad")
    for ours, peer, bar, what in (
        ("library", "same", 1.0, "on the library's memory"),
        ("library_congruent", "same_congruent", 1.0, "the same, congruent bases"),
        ("library", "plain", 1.0, "peer on plain memory, staggered"),
        ("library", "plain_congruent", 1.0, "peer on plain memory, congruent"),
        ("library", "malloc", None, "peer on memory from malloc"),
        ("library_not_held", "same", None, "the caller not held"),
    )
    if runtime == "openmp" or (peer != "malloc" and ours != "library_not_held")
] + [
    Ratio(("openmp", "reduce"), "library", "openmp", 1.0, "reduce_owned, a sum"),
    Ratio(("openmp", "chunks"), "library", "openmp", 1.0, "local_first, empty chunks of a page"),
    Ratio(("openmp", "chunks"), "library_elements", "openmp_elements", 1.0, "local_first, a page's elements"),
    Ratio(("openmp", "entry"), "library", "openmp", None, "short loop"),
    Ratio(("openmp", "entry"), "library_held", "openmp", None, "short loop, held"),
    Ratio(("openmp", "entry"), "library_held_cyclic", "openmp", None, "short loop, held, 16384 extents"),
    Ratio(("tbb", "entry"), "library", "tbb", None, "short loop"),
    Ratio(("fresh", "fresh"), "library_fill_huge", "memset_huge", 0.95, "make and fill, huge pages: memset"),
    Ratio(("fresh", "fresh"), "library_fill_huge", "populate_memset_huge", 0.95,
          "make and fill, huge pages: populate, memset"),
    Ratio(("fresh", "fresh"), "library_touch_huge", "populate_huge", 0.95, "make and touch, huge pages: populate"),
    Ratio(("fresh", "fresh"), "library_fill_base", "memset_base", 0.95, "make and fill, 4 KiB pages: memset"),
    Ratio(("fresh", "fresh"), "library_fill_base", "populate_memset_base", 0.95,
          "make and fill, 4 KiB pages: populate, memset"),
    Ratio(("fresh", "fresh"), "library_touch_base", "populate_base", 0.95, "make and touch, 4 KiB pages: populate"),
    Ratio(("fresh", "fresh"), "library_touch_huge", "serial_touch_base", 6.0, "make and touch, huge pages: serial touch"),
    Ratio(("fresh", "fresh"), "library_fill_huge", "serial_memset_base", 6.0, "make and fill, huge pages: serial memset"),
    Ratio(("fresh", "fresh"), "library_fill_again", "memset_again", None, "fill once more: memset"),
    Ratio(("fresh", "fresh"), "library_fill_again", "fill_n_again", None, "fill once more: a loop"),
]


def run(programs, family, repetitions, clock):
    """The least time of each party in one process, in microseconds."""
    program, name = family
    waits = {"OMP_WAIT_POLICY": "passive"} if clock == "cpu_time" else {}
    quiet = {key: value for key, value in os.environ.items() if not key.startswith(("OMP_", "GOMP_", "KMP_"))}
    text = subprocess.run(
        [programs / f"library_{program}", f"--benchmark_filter=^{name}/", f"--benchmark_repetitions={repetitions}",
         "--benchmark_enable_random_interleaving=true", "--benchmark_format=json"],
        capture_output=True, text=True, check=True, env=quiet | waits).stdout
    times = collections.defaultdict(list)
    for each in json.loads(text)["benchmarks"]:
        if each["run_type"] == "iteration":
            times[each["run_name"].split("/")[1]].append(each[clock])
    return {party: min(found) for party, found in times.items()}


def rows_of(found):
    rows = []
    for ratio in RATIOS:
        runs = found.get(ratio.family)
        if runs:
            rows.append({
                "runtime": ratio.family[0], "what": ratio.what, "ours": ratio.ours, "peer": ratio.peer,
                "ours_us": round(statistics.median(each[ratio.ours] for each in runs), 3),
                "peer_us": round(statistics.median(each[ratio.peer] for each in runs), 3),
                "ratio": summary([each[ratio.peer] / each[ratio.ours] for each in runs]),
                "bar": ratio.bar,
            })
    return rows


def print_table(rows):
    print(f"{'':8}{'':48}{'library us':>12}{'peer us':>12}{'ratio':>8}  95 % interval  bar")
    for row in rows:
        ratio = row["ratio"]
        bar = "" if row["bar"] is None else f"{row['bar']:4.2f}"
        missed = "  missed" if row["bar"] is not None and ratio["high"] < row["bar"] else ""
        print(f"{row['runtime']:8}{row['what']:48}{row['ours_us']:>12.1f}{row['peer_us']:>12.1f}"
              f"{ratio['median']:>8.3f}  {ratio['low']:.3f}..{ratio['high']:.3f}  {bar}{missed}")


def thp():
    path = pathlib.Path("/sys/kernel/mm/transparent_hugepage/enabled")
    return path.read_text().strip() if path.exists() else "unavailable"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--programs", required=True, type=pathlib.Path, help="folder of library_openmp and the others")
    parser.add_argument("--rounds", type=int, default=15, help="processes for each family")
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no round after so many")
    parser.add_argument("--processor-time", dest="clock", action="store_const", const="cpu_time", default="real_time",
                        help="for a machine that others use: the processor time of all threads, waiting ones asleep")
    parser.add_argument("--only", help="families whose program or name has this in it")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    machine = describe_machine() | {"oneTBB": version_of("libtbb12"), "compiler": version_of("g++"),
                                    "transparent_hugepage": thp()}
    programs = arguments.programs.resolve()
    families = [family for family in FAMILIES if arguments.only is None or arguments.only in "/".join(family)]
    found = collections.defaultdict(list)
    begin = time.monotonic()
    rounds = 0
    while rounds < arguments.rounds and time.monotonic() - begin < arguments.seconds:
        due = [family for family in families if rounds % SELDOM.get(family, 1) == 0]
        for family in random.sample(due, len(due)):
            found[family].append(run(programs, family, FAMILIES[family], arguments.clock))
        rounds += 1
    rows = rows_of(found)
    print_table(rows)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-library/1", "machine": machine, "rounds": rounds, "clock": arguments.clock,
                       "parties": [{"runtime": family[0], "name": family[1],
                                    "us": {party: round(statistics.median(each[party] for each in runs), 3)
                                           for party in runs[0]}} for family, runs in found.items()],
                       "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
