# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What `nodewise profile` costs the program that it watches, and how long it works afterwards.

Each round runs a program plainly, under `nodewise profile` and under `perf record` of page faults with call
chains, in random order, so that a drift of the machine's speed meets all of them. Reported, of the ratios to
the plain run of the same round: the median, and its 95 % interval by order statistics. The program's own
processor time (user and system, of the program alone) tells what it was slowed down by, whatever else the
machine does; the observer's is beside it. `faults` is a program of 10^6 page faults in two threads: the time
from its end to the end of the command is what writing and analysing takes.
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
import time

from agent_overhead import summary
from machine import describe_machine

COMPUTE = """#include <stdio.h>
int main(int count, char** words) {
  double x = count + words[0][0];
  for (long i = 0; i < 400000000; ++i) x = x * 0.9999999 + 1e-7;
  printf("%g\\n", x);
}
"""
FAULTS = """#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
enum { pages = 500000 };
static void* touch(void* of) {
  for (size_t i = 0; i < pages; ++i) ((volatile char*)of)[i * 4096] = 1;
  return NULL;
}
int main(void) {
  char* all = mmap(NULL, 2 * (size_t)pages * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (all == MAP_FAILED || madvise(all, 2 * (size_t)pages * 4096, MADV_NOHUGEPAGE)) return 1;
  pthread_t other;
  pthread_create(&other, NULL, touch, all);
  touch(all + (size_t)pages * 4096);
  pthread_join(other, NULL);
}
"""
# Writes processor time of the program alone, and the clock at its end, to a file.
TIMED = """import os, sys, time
pid = os.posix_spawnp(sys.argv[2], sys.argv[2:], os.environ)
_, status, usage = os.wait4(pid, 0)
with open(sys.argv[1], "w") as f:
    f.write(f"{usage.ru_utime + usage.ru_stime} {time.monotonic()}")
sys.exit(os.waitstatus_to_exitcode(status))
"""


def compiled(folder, name, source):
    (folder / f"{name}.c").write_text(source)
    subprocess.run(["gcc", "-O2", "-g", "-pthread", "-o", folder / name, folder / f"{name}.c"], check=True)
    return [str(folder / name)]


def run_once(watched_by, program, folder):
    """Seconds: the program's processor time; the watcher's; from the program's end to the watcher's."""
    note = folder / "note"
    timed = ["/usr/bin/python3", "-I", "-S", str(folder / "timed.py"), str(note), *program]
    words = [*watched_by, *timed]
    pid = os.posix_spawnp(words[0], words, os.environ | {"OMP_NUM_THREADS": "2"},
                          file_actions=[(os.POSIX_SPAWN_OPEN, fd, "/dev/null", os.O_WRONLY, 0) for fd in (1, 2)])
    _, status, usage = os.wait4(pid, 0)
    end = time.monotonic()
    if status != 0:
        raise SystemExit(f"{words}: wait status {status}")
    own, ended = map(float, note.read_text().split())
    return {"program": own, "watcher": usage.ru_utime + usage.ru_stime - own, "after": end - ended}


def measure(ways, program, folder, rounds):
    taken = {way: [] for way in ways}
    for _ in range(rounds):
        for way in random.sample(list(ways), len(ways)):
            taken[way].append(run_once(ways[way], program, folder))
    plain = [each["program"] for each in taken["plain"]]
    rows = {"plain_cpu_s": round(statistics.median(plain), 3)}
    for way in ways:
        if way != "plain":
            rows[way] = {
                "program_cpu": summary([each["program"] / was for each, was in zip(taken[way], plain)]),
                "watcher_cpu_s": round(statistics.median(each["watcher"] for each in taken[way]), 3),
                "after_s": round(statistics.median(each["after"] for each in taken[way]), 3),
            }
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True, help="the command")
    parser.add_argument("--first-touch", required=True, help="the built examples/first-touch")
    parser.add_argument("--mib", type=int, default=341, help="of each of its three arrays")
    parser.add_argument("--sweeps", type=int, default=200)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--output")
    arguments = parser.parse_args()

    results = {}
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
        folder = pathlib.Path(name)
        (folder / "timed.py").write_text(TIMED)
        ways = {"plain": [], "nodewise profile": [os.path.abspath(arguments.nodewise), "profile", "-o", str(folder / "p.json"), "--"]}
        if shutil.which("perf"):
            ways["perf record"] = ["perf", "record", "-q", "-e", "page-faults", "-c", "1", "-g", "-o", str(folder / "perf.data"), "--"]
        programs = {
            "compute": compiled(folder, "compute", COMPUTE),
            "faults": compiled(folder, "faults", FAULTS),
            "first-touch": [os.path.abspath(arguments.first_touch), str(arguments.mib), str(arguments.sweeps)],
        }
        for title, program in programs.items():
            results[title] = measure(ways, program, folder, arguments.rounds)
            results[title]["profile_bytes"] = (folder / "p.json").stat().st_size
            print(f"{title}: plain {results[title]['plain_cpu_s']} s", flush=True)
            for way, row in results[title].items():
                if way in ways:
                    cpu = row["program_cpu"]
                    print(f"  {way:17} x {cpu['median']:.4f} ({cpu['low']:.3f} to {cpu['high']:.3f})   "
                          f"watcher {row['watcher_cpu_s']} s, {row['after_s']} s after the end", flush=True)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-profile-overhead/1", "machine": describe_machine(),
                       "load": os.getloadavg(), "rounds": arguments.rounds, "mib": arguments.mib,
                       "sweeps": arguments.sweeps, "results": results}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
