# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile --on` of memory that no function allocates: stacks of threads that have ended, and what a program
maps by a system call of its own."""

import json
import subprocess
import unittest

import lab
from batch import NODEWISE

# Four threads read a field that is larger than their caches, four times. The argument says where it is: on the stack of
# a fifth thread, which ends before the program, or mapped past the C library.
SOURCE = r"""
#define _GNU_SOURCE
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
enum { BYTES = 4 << 20, READERS = 4, SWEEPS = 4 };
static const char* field;
static pthread_barrier_t filled, read_by_all;
static void* reader(void* of) {
  pthread_barrier_wait(&filled);
  volatile long sum = 0;
  for (int sweep = 0; sweep < SWEEPS; sweep++)
    for (long i = 0; i < BYTES; i += 64)
      sum += field[i];
  pthread_barrier_wait(&read_by_all);
  return of;
}
static void lend(char* memory) {
  memset(memory, 1, BYTES);
  field = memory;
  pthread_barrier_wait(&filled);
  pthread_barrier_wait(&read_by_all);
}
static void* lender(void* of) {
  char own[BYTES];
  lend(own);
  return of;
}
int main(int argc, char** argv) {
  pthread_t readers[READERS], stack;
  pthread_barrier_init(&filled, NULL, READERS + 1);
  pthread_barrier_init(&read_by_all, NULL, READERS + 1);
  for (int k = 0; k < READERS; k++)
    pthread_create(&readers[k], NULL, reader, NULL);
  if (argc > 1 && strcmp(argv[1], "stack") == 0) {
    pthread_create(&stack, NULL, lender, NULL);
    pthread_join(stack, NULL);
  } else {
    lend((char*)syscall(SYS_mmap, NULL, BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  }
  for (int k = 0; k < READERS; k++)
    pthread_join(readers[k], NULL);
  return 0;
}
"""


class Memory(lab.LabTest):
    def setUp(self) -> None:
        super().setUp()
        (self.directory / "field.c").write_text(SOURCE)
        subprocess.run(["gcc", "-g", "-O1", "-pthread", "field.c", "-o", "field"], cwd=self.directory, check=True)

    def advice(self, where: str) -> dict:
        command = [NODEWISE, "profile", "--on", "lab:4x2", "--bind", "close", "--json", "--", "./field", where]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, check=False, timeout=900,
                              stdin=subprocess.DEVNULL)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return json.loads(done.stdout)

    def check(self, advice: dict, pattern: str, name: str) -> None:
        first = advice["findings"][0]
        self.assertEqual(first["pattern"], pattern)
        self.assertEqual(first["objects"][0]["name"], name)
        self.assertGreater(first["objects"][0]["share"], 0.8)
        self.assertTrue(first["cures"])

    def test_a_stack_of_a_thread_that_has_ended_has_a_name(self) -> None:
        self.check(self.advice("stack"), "thread-stacks", "[stack and thread-local data]")

    def test_what_nobody_saw_allocated_is_the_first_finding(self) -> None:
        self.check(self.advice("mapped"), "nameless", "unnamed memory")


if __name__ == "__main__":
    unittest.main()
