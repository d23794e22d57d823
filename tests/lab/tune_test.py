# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise tune --on`: the figure is the model's time of the counted traffic, and nothing is left behind."""

import json
import os
import statistics
import subprocess
import unittest

from lab import BUILD, ROOT, LabTest, with_own_caches

# One thread initialises what all use: on a machine whose memories are alike, interleaved pages
# take half the time.
SOURCE = """
#include <nodewise/marker.h>
#include <stdio.h>
#include <stdlib.h>
int main(void) {
  enum { N = 1 << SIZE };
  double *a = malloc(N * sizeof *a), *b = malloc(N * sizeof *b);
  for (long i = 0; i < N; i++) a[i] = b[i] = 1;
  NODEWISE_MARKER_START("sum");
  for (int round = 0; round < 3; round++) {
#pragma omp parallel for
    for (long i = 0; i < N; i++) a[i] += b[i];
  }
  NODEWISE_MARKER_STOP("sum");
  printf("%g\\n", a[N - 1]);
}
"""


COMMAND = str(BUILD / "bin/nodewise")
# Each thread has caches of its own, smaller than its part, and a place: where a kernel puts threads that nobody binds,
# and what a cache of a node keeps of whose turn it is, is chance. So two runs of a setting count the same traffic.
MACHINE = f"lab:{with_own_caches('nehalem-2x4')}"
ENVIRONMENT = {**os.environ, "OMP_NUM_THREADS": "", "OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}


class TuneOnLab(LabTest):
    def setUp(self):
        super().setUp()
        (self.directory / "first.c").write_text(SOURCE)
        self.command("cc", "-O2", "-fopenmp", f"-I{ROOT}/include", "-DSIZE=19", "first.c", "-o", "first")
        (self.directory / "settings").write_text("--memory interleave\n--threads 8 --bind close\n")

    def command(self, *words, code=0):
        done = subprocess.run(words, cwd=self.directory, capture_output=True, text=True, env=ENVIRONMENT)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_serial_first_touch_is_cured_by_the_time_that_the_model_predicts(self):
        asked = ("--candidates", "settings", "--region", "sum", "--same-output", "--json", "--", "./first")
        result = json.loads(self.command(COMMAND, "tune", "--on", MACHINE, *asked).stdout)
        self.assertEqual((result["verdict"], result["chosen"]), ("winner", 1), result)
        self.assertEqual((result["figure"], result["on"], result["phase"]), ("predicted time", MACHINE, "sum"))
        self.assertEqual(result["line"], "nodewise run --memory interleave -- ./first")
        ahead = result["candidates"][1].get("predicted")
        self.assertIsNone(ahead)  # a region has no prediction
        # What `run` predicts for the same program; counts of two runs of bound threads differ by a thousandth.
        self.command(COMMAND, "run", "--quiet", "--on", MACHINE, "--on-counts", "counts.json", "--", "./first")
        predicted = json.loads((self.directory / "counts.json").read_text())["predicted"]
        seconds = {each["region"]: each["seconds"] for each in predicted}["sum"]
        figures = result["candidates"][0]["figures"]
        self.assertAlmostEqual(statistics.median(figures) / seconds, 1, delta=0.05)

    def test_hopeless_settings_do_not_run_and_predictions_stand_beside_the_figures(self):
        (self.directory / "settings").write_text("--memory interleave\n--threads 1 --bind close\n")
        asked = ("--candidates", "settings", "--json", "--log", "log", "--", "./first")
        result = json.loads(self.command(COMMAND, "tune", "--on", MACHINE, *asked).stdout)
        spread, single = result["candidates"][1:]
        self.assertEqual(result["chosen"], 1)
        self.assertAlmostEqual(spread["predicted"]["ratio"] / spread["to_as_it_is"]["ratio"], 1, delta=0.05)
        self.assertEqual((single["state"], single["race_runs"]), ("disqualified", 0))
        self.assertIn("dropped: if memory limits the program", single["reason"])
        self.assertEqual((self.directory / "log").read_text().count('"forecast"'), 3)
        again = json.loads(self.command(COMMAND, "tune", "--on", MACHINE, "--candidates", "settings", "--json",
                                        "--resume", "log", "--", "./first").stdout)  # fmt: skip
        self.assertEqual([each.get("predicted") for each in again["candidates"]],
                         [each.get("predicted") for each in result["candidates"]])  # fmt: skip

    def test_a_plan_of_a_profile_races_too(self):
        self.command("cc", "-O2", "-fopenmp", f"-I{ROOT}/include", "-DSIZE=21", "first.c", "-o", "first")
        asked = ("--profiled-plan", "plan.json", "--over", "bind", "--runs", "6", "--json", "--", "./first")
        result = json.loads(self.command(COMMAND, "tune", "--on", MACHINE, *asked).stdout)
        self.assertEqual(result["candidates"][result["chosen"]]["setting"], "--plan plan.json")
        self.assertEqual(json.loads((self.directory / "plan.json").read_text())["program"]["name"], "first")

    def test_counted_traffic_predicts_settings_outside_too(self):
        self.command(COMMAND, "run", "--quiet", "--on", "lab:1x1", "--on-counts", "counts.json", "--", "./first")
        (self.directory / "settings").write_text("--memory interleave\n")
        asked = ("--candidates", "settings", "--traffic", "counts.json", "--json", "--runs", "6", "--", "./first")
        result = json.loads(self.command(COMMAND, "tune", *asked).stdout)
        self.assertEqual([each["predicted"]["ratio"] for each in result["candidates"]], [1, 1])  # one thread
        self.command(COMMAND, "run", "--quiet", "--on", "lab:16x1", "--on-counts", "counts.json", "--", "./first")
        done = self.command(COMMAND, "tune", *asked, code=3)
        self.assertIn("is not on the machine", done.stderr)

    def test_a_region_that_the_program_does_not_mark_ends_it(self):
        done = self.command(COMMAND, "tune", "--on", MACHINE, "--region", "solve", "--", "./first", code=3)
        self.assertIn("--region solve: the program has marked no such region", done.stderr)
        self.assertIn("it has sum", done.stderr)


if __name__ == "__main__":
    unittest.main()
