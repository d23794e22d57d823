# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""This build against an earlier one: launch, threads and allocation under the agent, and lab start.

    bench/against.py --nodewise build/release/bin/nodewise --before OTHER/bin/nodewise [--output FILE]

Every round runs both builds, in random order; a ratio is the new time over the old one of the same
round. Reported are the median of the ratios and its 95 % interval by order statistics. Start it in a
folder that has neither build in it: the lab has the working directory by a slower mount.
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

from agent_overhead import summary
from machine import describe_machine

THREADS = """#include <pthread.h>
static void* begin(void* it) { return it; }
int main(void) {
  for (int team = 0; team < 2000; ++team) {
    pthread_t all[4];
    for (int k = 0; k < 4; ++k) pthread_create(&all[k], 0, begin, 0);
    for (int k = 0; k < 4; ++k) pthread_join(all[k], 0);
  }
}
"""
ALLOCATION = """#include <stdlib.h>
int main(void) {
  static void* kept[4096];
  for (unsigned i = 0; i < 6000000; ++i) {
    void** at = &kept[i * 2654435761u >> 20];
    free(*at);
    *at = malloc(16 + i * 40503u % 2000);
    *(volatile char*)*at = 1;
  }
  for (int i = 0; i < 3000; ++i) {
    volatile char* large = malloc(2 << 20);
    large[5] = 1;
    free((void*)large);
  }
}
"""


def compiled(folder, name, source):
    file = folder / f"{name}.c"
    file.write_text(source)
    subprocess.run(["gcc", "-O2", file, "-o", folder / name, "-pthread"], check=True)
    return str(folder / name)


def seconds(argv):
    begin = time.perf_counter()
    subprocess.run(argv, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begin


def cases(folder):
    """By name: the words after the command, and the rounds."""
    blocked = ["run", "--memory", "blocked", "--bind", "close", "--"]
    return {
        "launch, -N 0 -m 0": (["run", "-N", "0", "-m", "0", "--", "true"], 400),
        "launch, blocked": ([*blocked, "true"], 400),
        "8000 threads": ([*blocked, compiled(folder, "threads", THREADS)], 60),
        "allocation": ([*blocked, compiled(folder, "allocation", ALLOCATION)], 30),
        "lab start": (["run", "--on", "lab:2x2", "--on-no-count", "--", "true"], 25),
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--before", required=True)
    parser.add_argument("--only", default="", help="cases whose name has this in it")
    parser.add_argument("--output")
    asked = parser.parse_args()
    builds = [os.path.abspath(asked.nodewise), os.path.abspath(asked.before)]
    machine = describe_machine()
    rows = {}
    with tempfile.TemporaryDirectory(prefix="nodewise-against-") as made:
        for name, (words, rounds) in cases(pathlib.Path(made)).items():
            if asked.only not in name:
                continue
            times = ([], [])
            for build in builds:
                seconds([build, *words])  # caches
            for _ in range(rounds):
                for k in random.sample((0, 1), 2):
                    times[k].append(seconds([builds[k], *words]))
            ratio = summary([new / old for new, old in zip(*times)])
            rows[name] = {"rounds": rounds, "median_s": [round(statistics.median(each), 6) for each in times], **ratio}
            print(f"{name:20} {ratio['median']:.3f}  {ratio['low']:.3f} .. {ratio['high']:.3f}", flush=True)
    if asked.output:
        result = {"schema": "nodewise/bench-against/1", "machine": machine, "results": rows}
        pathlib.Path(asked.output).write_text(json.dumps(result, indent=2) + "\n")


if __name__ == "__main__":
    main()
