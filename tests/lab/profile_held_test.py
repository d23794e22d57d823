# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Hinting faults without moved pages: where the kernel's NUMA balancing is on, a profile samples who
uses memory, and all of it stays where it was first touched. As an ordinary user, without the counter.
"""

import json
import re
import unittest

import lab
from lab import BUILD, LabTest

NODEWISE = BUILD / "bin/nodewise"
FIRST_TOUCH = BUILD / "examples/first-touch/first-touch"
SOURCE = (lab.ROOT / "examples/first-touch/usual.c").read_text().splitlines()
MIB, PAGES = 8, 3 * 8 * 256
# Balancing begins a second after a thread has, and comes back every other second: how many sweeps
# that takes is a matter of the machine's speed. A run that saw too little is done again with twice
# as many.
FEWEST_SWEEPS, MOST_SWEEPS = 480, 480 * 64
# The guest's second passes while others have the host's processors: where the kernel has moved pages
# before the thread that holds them had its turn, which the profile tells, the run is done again. On
# a host with six times as much to do as it can that was one run of five.
MOST_LATE = 6
# Of each page, on average, in every array: of two passes of the kernel's over all of them.
ENOUGH_SAMPLES = 2

# Says after each step whether memory of it is held. It waits for what must be held, and before it
# says that nothing is, until the thread that holds pages has looked: that thread rests ten times as
# long as it worked, which is seconds where processors are emulated and shared with others.
STEPS = r"""
#define _GNU_SOURCE
#include <dirent.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { bytes = 8 << 20 };
static int is_held(void) {
  FILE* file = fopen("/proc/self/numa_maps", "r");
  char line[512];
  int held = 0;
  while (fgets(line, sizeof line, file))
    held |= strstr(line, " bind=balancing:") != NULL;
  fclose(file);
  return held;
}
static void tell(const char* step) {
  printf("%s %d\n", step, is_held());
  fflush(stdout);
}
/* How often the thread has gone to sleep, or -1. */
static long naps_of(const char* thread) {
  char path[300], line[256];
  snprintf(path, sizeof path, "/proc/self/task/%s/status", thread);
  FILE* file = fopen(path, "r");
  long naps = -1;
  int holds = 0;
  while (file && fgets(line, sizeof line, file)) {
    holds |= strcmp(line, "Name:\tnodewise-pin\n") == 0;
    if (holds)
      sscanf(line, "voluntary_ctxt_switches: %ld", &naps);
  }
  if (file)
    fclose(file);
  return naps;
}
static long naps(void) {
  DIR* threads = opendir("/proc/self/task");
  long found = -1;
  for (struct dirent* each; (each = readdir(threads));)
    if (each->d_name[0] != '.' && naps_of(each->d_name) > found)
      found = naps_of(each->d_name);
  closedir(threads);
  return found;
}
/* The thread that holds looks at everything between two naps; the first one may have begun that
   before the step. A few more, since it also sleeps where it has to wait for another thread. */
static void let_it_look(void) {
  for (long begin = naps(); naps() < begin + 5;)
    usleep(20000);
}
/* Reads `used` meanwhile: a page that the kernel has unmapped to sample its users has no known node
   until it is used again, and is not held before. */
static void tell_once_held(const char* step, const char* used) {
  for (int left = 30000; left > 0 && !is_held(); --left) { /* five minutes or more */
    for (size_t at = 0; at < bytes / 2; at += 4096)
      (void)*(const volatile char*)(used + at);
    usleep(10000);
  }
  tell(step);
}
static void* last(void* nothing) {
  usleep(500000);
  tell("last thread");
  return nothing;
}
int main(void) {
  char* a = malloc(bytes);
  let_it_look();
  tell("untouched");
  memset(a, 1, bytes / 2);
  tell_once_held("half touched", a);
  memset(a, 2, bytes);
  int told[2]; /* the child lives until the parent has told: so long they share their pages */
  char nothing;
  if (pipe(told) != 0)
    return 1;
  pid_t child = fork();
  if (child == 0) {
    tell("child");
    close(told[1]);
    _exit(read(told[0], &nothing, 1) == 0 ? 0 : 1);
  }
  tell("just forked");
  close(told[1]);
  waitpid(child, NULL, 0);
  tell_once_held("alone again", a);
  char* own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned long node = 2;
  syscall(237, own, bytes, 1, &node, 64, 0); /* mbind, MPOL_PREFERRED */
  memset(own, 1, bytes);
  let_it_look();
  tell_once_held("a policy of its own", a); /* by what was there before */
  madvise((char*)(((size_t)a + 4095) & ~4095UL), 1 << 20, MADV_DONTNEED);
  let_it_look();
  tell("given back");
  char* b = malloc(bytes);
  memset(b, 1, bytes);
  tell_once_held("another", b);
  free(b);
  tell("freed");
  pthread_t thread;
  pthread_create(&thread, NULL, last, NULL);
  pthread_exit(NULL); /* the agent's thread does not keep the process */
}
"""
HELD = {
    "untouched": 0, "half touched": 1, "child": 0, "just forked": 0, "alone again": 1, "a policy of its own": 1,
    "given back": 0, "another": 1, "freed": 0, "last thread": 0,
}  # fmt: skip


def uses_of(array: dict) -> list[tuple[int, int, int, float]]:
    """First page, pages, thread and amount of each use: "FIRST+COUNT THREAD:AMOUNT,..."."""
    found = []
    for run in array["uses"]:
        pages, users = run.split()
        first, count = map(int, pages.split("+"))
        for use in users.split(","):
            thread, amount = use.split(":")
            found.append((first, count, int(thread), float(amount)))
    return found


def line_of(mark: str) -> str:
    return f"usual.c:{next(i for i, text in enumerate(SOURCE) if mark in text) + 1}"


class Held(LabTest):
    def guest(self, script: str) -> str:
        options = ("--numa-balancing", "1", "--timeout", "1200")
        done = lab.shell(script, options=options, timeout=1300, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
        return done.stdout.decode()

    def profile(self, *program: object) -> dict:
        words = " ".join(map(str, program))
        self.guest(f"{NODEWISE} profile --verbose -o kept.json --bind close -- {words} > printed 2> advice")
        self.advice = (self.directory / "advice").read_text()
        self.printed = (self.directory / "printed").read_text()
        return json.loads((self.directory / "kept.json").read_text())

    def profile_first_touch(self) -> tuple[dict, list[dict]]:
        """The profile of a run that saw enough, and the three arrays in it."""
        sweeps = FEWEST_SWEEPS
        late = 0
        while True:
            kept = self.profile(FIRST_TOUCH, MIB, sweeps)
            if (moved := kept["evidence"]["pages_moved"]) != 0:
                self.assertIn(f"{moved} moved by the kernel", self.advice)
                late += 1
                self.assertLess(late, MOST_LATE, self.advice)
                continue
            program = next(p for p in kept["programs"] if p["name"] == "first-touch")
            arrays = [o for o in program["objects"] if o["bytes"] == MIB << 20]
            self.assertEqual(len(arrays), 3)
            seen = [sum(amount for *_, amount in uses_of(each)) for each in arrays]
            if min(seen) >= ENOUGH_SAMPLES * MIB * 256:
                return kept, arrays
            self.assertLess(sweeps, MOST_SWEEPS, f"{seen} samples of the arrays")
            sweeps *= 2

    def test_pages_stay_and_their_users_are_seen(self) -> None:
        kept, arrays = self.profile_first_touch()
        seen = kept["evidence"]
        self.assertTrue(seen["hinting"])
        self.assertGreaterEqual(seen["pages_bound"], PAGES)
        self.assertEqual(seen["pages_moved"], 0)
        self.assertEqual([m for m in seen["missing"] if "could not be bound" in m], [])
        for each in arrays:
            self.assertEqual(each["where"], f"0+{each['resident']}@0")  # all on the first node
            self.assert_blocks(each)
        # The agent's own thread is none of the program's.
        program = next(p for p in kept["programs"] if p["name"] == "first-touch")
        self.assertEqual(len(program["threads"]), 8)
        self.assertIn("pages bound to their node meanwhile, 0 moved by the kernel", self.advice)
        self.assert_times(kept, program)

    def assert_times(self, kept: dict, program: dict) -> None:
        """Each sampled access is in one interval, and all memory is on the first node."""
        found = 0.0
        for each in kept["programs"]:
            for run in each.get("uses_in_time", []):
                for use in run.split()[1].split(","):
                    nodes, amount = use.split(":")
                    self.assertEqual(nodes.split("/")[1], "0", run)
                    found += float(amount)
        self.assertEqual(found, kept["evidence"]["hinting_samples"])
        for each in program["threads"]:
            nodes = {int(run.split("@")[1]) for run in each["seen"].split()}
            self.assertLessEqual(nodes, {stay["node"] for stay in each["stays"]})

    def assert_blocks(self, array: dict) -> None:
        """Thread k uses the k-th eighth. Another thread touches a page only where a run of pages crosses
        the edge of two blocks."""
        right = wrong = 0.0
        block = MIB * 256 // 8
        used = set()
        for first, count, thread, amount in uses_of(array):
            if (first + count // 2) // block == thread:
                right += amount
                used.update(range(first, first + count))
            else:
                wrong += amount
        self.assertGreater(len(used), MIB * 256 * 0.9)
        self.assertLess(wrong, right * 0.05)

    def test_the_findings_are_right(self) -> None:
        self.profile_first_touch()
        done = lab.subprocess.run(
            [NODEWISE, "profile", "--json", "kept.json"], cwd=self.directory, capture_output=True, text=True, check=True
        )  # fmt: skip
        # One finding, or several where few samples make the arrays' users look different.
        findings = json.loads(done.stdout)["findings"]
        serial = [f for f in findings if f["pattern"] == "serial-initialisation"]
        objects = {o["name"] for f in serial for o in f["objects"]}
        self.assertEqual(objects, {line_of(f"made: {array}") for array in "abc"})
        touched = {place["label"] for f in serial for place in f["first_touched"]}
        self.assertTrue(touched & {line_of(f"touch: {array}") for array in "abc"}, touched)

    def test_only_what_is_there_is_held_and_only_as_long(self) -> None:
        (self.directory / "steps.c").write_text(STEPS)
        lab.subprocess.run(["cc", "-O1", "-pthread", "steps.c", "-o", "steps"], cwd=self.directory, check=True)
        self.profile("./steps")
        steps = dict(line.rsplit(" ", 1) for line in self.printed.splitlines())
        self.assertEqual({step: int(held) for step, held in steps.items()}, HELD)

    def test_without_the_profile_the_kernel_moves_them(self) -> None:
        bound = "OMP_NUM_THREADS=8 OMP_PROC_BIND=close OMP_PLACES=cores"
        sweeps = FEWEST_SWEEPS
        while not re.search(r"a: .* N1=\d", out := self.guest(f"{bound} {FIRST_TOUCH} {MIB} {sweeps}")):
            self.assertLess(sweeps, MOST_SWEEPS, out)
            sweeps *= 2


if __name__ == "__main__":
    unittest.main()
