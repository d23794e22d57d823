# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Hinting faults without moved pages: where the kernel's NUMA balancing is on, a profile samples who
uses memory, and all of it stays where it was first touched. As an ordinary user, without the counter.
"""

import json
import unittest

import lab
from lab import BUILD, LabTest

NODEWISE = BUILD / "bin/nodewise"
FIRST_TOUCH = BUILD / "examples/first-touch/first-touch"
SOURCE = (lab.ROOT / "examples/first-touch/usual.c").read_text().splitlines()
MIB, SWEEPS = 8, 120  # some seconds: balancing begins a second after a thread has
PAGES = 3 * MIB * 256

# Says after each step whether memory of it is held.
STEPS = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
enum { bytes = 8 << 20 };
static void tell(const char* step) {
  FILE* file = fopen("/proc/self/numa_maps", "r");
  char line[512];
  int held = 0;
  while (fgets(line, sizeof line, file))
    held |= strstr(line, " bind=balancing:") != NULL;
  fclose(file);
  printf("%s %d\n", step, held);
  fflush(stdout);
}
static void* last(void* nothing) {
  usleep(500000);
  tell("last thread");
  return nothing;
}
int main(void) {
  char* a = malloc(bytes);
  sleep(1);
  tell("untouched");
  memset(a, 1, bytes / 2);
  sleep(1);
  tell("half touched");
  memset(a, 2, bytes);
  pid_t child = fork();
  if (child == 0) {
    tell("child");
    _exit(0);
  }
  tell("just forked");
  waitpid(child, NULL, 0);
  sleep(1);
  tell("alone again");
  char* own = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  unsigned long node = 2;
  syscall(237, own, bytes, 1, &node, 64, 0); /* mbind, MPOL_PREFERRED */
  memset(own, 1, bytes);
  sleep(1);
  tell("a policy of its own");
  madvise((char*)(((size_t)a + 4095) & ~4095UL), 1 << 20, MADV_DONTNEED);
  sleep(1);
  tell("given back");
  char* b = malloc(bytes);
  memset(b, 1, bytes);
  sleep(1);
  tell("another");
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


def line_of(mark: str) -> str:
    return f"usual.c:{next(i for i, text in enumerate(SOURCE) if mark in text) + 1}"


class Held(LabTest):
    def guest(self, script: str) -> str:
        done = lab.shell(script, options=("--numa-balancing", "1"), timeout=500, cwd=self.directory)
        self.assertEqual(done.returncode, 0, done.stdout.decode() + done.stderr.decode())
        return done.stdout.decode()

    def profile(self, *program: object) -> dict:
        words = " ".join(map(str, program))
        self.guest(f"{NODEWISE} profile -o kept.json --bind close -- {words} > printed 2> advice")
        self.advice = (self.directory / "advice").read_text()
        self.printed = (self.directory / "printed").read_text()
        return json.loads((self.directory / "kept.json").read_text())

    def test_pages_stay_and_their_users_are_seen(self) -> None:
        kept = self.profile(FIRST_TOUCH, MIB, SWEEPS)
        seen = kept["evidence"]
        self.assertTrue(seen["hinting"])
        self.assertGreaterEqual(seen["pages_held"], PAGES)
        self.assertEqual(seen["pages_moved"], 0)
        self.assertEqual([m for m in seen["missing"] if "could not be held" in m], [])
        program = next(p for p in kept["programs"] if p["name"] == "first-touch")
        arrays = [o for o in program["objects"] if o["bytes"] == MIB << 20]
        self.assertEqual(len(arrays), 3)
        for each in arrays:
            self.assertEqual(each["where"], f"0+{each['resident']}@0")  # all on the first node
            self.assert_blocks(each)
        # The agent's own thread is none of the program's.
        self.assertEqual(len(program["threads"]), 8)
        self.assertIn("pages held where they were meanwhile, 0 moved by the kernel", self.advice)

    def assert_blocks(self, array: dict) -> None:
        """Thread k uses the k-th eighth, by nearly every sample."""
        right = wrong = 0.0
        block = MIB * 256 // 8
        for run in array["uses"]:
            pages, users = run.split(" ", 1)
            first, count = map(int, pages.split("+"))
            for use in users.split(" "):
                thread, amount = use.split(":")
                if (first + count // 2) // block == int(thread):
                    right += float(amount)
                else:
                    wrong += float(amount)
        self.assertGreater(right, MIB * 256 * 0.9)  # about each page, most of them several times
        self.assertLess(wrong, right * 0.05)

    def test_the_findings_are_right(self) -> None:
        self.profile(FIRST_TOUCH, MIB, SWEEPS)
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
        out = self.guest(f"OMP_NUM_THREADS=8 OMP_PROC_BIND=close OMP_PLACES=cores {FIRST_TOUCH} {MIB} {SWEEPS}")
        self.assertRegex(out, r"a: .* N1=\d")


if __name__ == "__main__":
    unittest.main()
