# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The comparison with the base commit, of a program in a git repository, in virtual machines."""

import json
import os
import subprocess
import sys
import unittest

import lab

SCRIPT = lab.BUILD / "share/nodewise/ci/nodewise_ci"
PROGRAM = """\
#include <stdio.h>
enum { elements = 256 << 10, sweeps = 3 };
static double a[elements];
int main(void) {
#pragma omp parallel for
  for (int i = 0; i < elements; ++i) a[i] = 1;
  double sum = 0;
  for (int sweep = 0; sweep < sweeps; ++sweep) {
#pragma omp parallel for reduction(+ : sum)
    for (int i = 0; i < elements; ++i) sum += a[i];
  }
  return sum != (double)elements * sweeps;
}
"""
THREADS = {"OMP_NUM_THREADS": "2", "OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}


class Compared(lab.LabTest):
    def setUp(self):
        super().setUp()
        self.env = {**os.environ, **THREADS, "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        self.git("init", "--quiet")
        self.commit(PROGRAM)

    def git(self, *words):
        subprocess.run(["git", "-c", "user.name=A", "-c", "user.email=a@b", *words],
                       cwd=self.directory, env=self.env, check=True)  # fmt: skip

    def commit(self, source):
        (self.directory / "sweep.c").write_text(source)
        self.git("add", "sweep.c")
        self.git("commit", "--quiet", "--message=A change")

    def compare(self, base):
        words = [sys.executable, "-B", SCRIPT, "--nodewise", lab.BUILD / "bin/nodewise", f"--base={base}", "--runs=3",
                 f"--on={lab.with_own_caches('2x1')}", "--build=gcc -O2 -g -fopenmp sweep.c -o sweep", "--", "./sweep"]  # fmt: skip
        done = subprocess.run(words, cwd=self.directory, env=self.env, capture_output=True, text=True, check=False)
        self.assertIn(done.returncode, (0, 1), done.stdout + done.stderr)
        results = self.directory / "nodewise-placement"
        found = json.loads((results / "placement.sarif").read_text())["runs"][0]["results"]
        return done.returncode, (results / "comment.markdown").read_text(), found

    def test_an_unchanged_program_is_no_alarm(self):
        # All lines have moved down by one.
        self.commit("// A comment.\n" + PROGRAM)
        status, comment, found = self.compare("HEAD~1")
        self.assertEqual((status, found), (0, []), comment)
        self.assertIn("Memory placement is as before", comment)
        worktrees = subprocess.run(["git", "worktree", "list"], cwd=self.directory, capture_output=True, text=True)
        self.assertEqual(len(worktrees.stdout.splitlines()), 1)

    def test_a_first_touch_by_one_thread_is_an_alarm_at_the_line_that_reads(self):
        # One line more, before the loop that reads: line 11 is the base's line 10.
        self.commit(PROGRAM.replace("#pragma omp parallel for\n", "  // By one thread.\n\n", 1))
        status, comment, found = self.compare("HEAD~1")
        self.assertEqual(status, 1, comment)
        # One of two nodes reads what the other one's thread has filled: half, less what its cache still has.
        # A column is one share, or the lowest and the highest of the runs.
        none, half = (rf"{share}(?: to {share})? %" for share in (r"[0-2]\.\d", r"(?:4\d|50)\.\d"))
        self.assertRegex(comment, rf"\| all traffic \| {none} \| {half} \| .* \*\*alarm\*\*")
        self.assertRegex(comment, rf"\| `a` \| {none} \| {half} \| .* \*\*alarm\*\*")
        self.assertRegex(comment, rf"\| `sweep\.c:11` \| {none} \| {half} \| ")
        where = found[0]["locations"][0]["physicalLocation"]
        self.assertEqual((where["artifactLocation"]["uri"], where["region"]["startLine"]), ("sweep.c", 11))


if __name__ == "__main__":
    unittest.main()
