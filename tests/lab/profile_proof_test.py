# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile --on`: the program runs again with its plan, and is counted."""

import json
import subprocess
import unittest

import lab
from traffic_counts import FIRST_TOUCH

# What a cache of a node keeps depends on whose turn it was: each core has its own.
MACHINE = f"lab:{lab.with_own_caches('nehalem-2x4')}"
PROGRAM = str(FIRST_TOUCH / "first-touch")
NODEWISE = str(lab.BUILD / "bin/nodewise")


class Proof(lab.LabTest):
    def profile(self, *options: str, command: tuple = (PROGRAM, "16", "3"), code: int = 0, **more: object) -> str:
        done = subprocess.run(
            [NODEWISE, "profile", "--on", MACHINE, "--bind", "close", *options, "--", *command],
            cwd=self.directory, capture_output=True, text=True, check=False, timeout=900,
            **{"stdin": subprocess.DEVNULL, **more},
        )  # fmt: skip
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.said = done.stderr
        return done.stdout

    def advice(self, *options: str, **more: object) -> dict:
        text = self.profile("--json", *options, **more)
        return json.loads(text[text.index('{\n  "schema": "nodewise/advice/2"') :])

    def test_what_is_predicted_is_counted(self) -> None:
        advice = self.advice("--write-plan", "p.json")
        self.assertEqual(advice["proof"]["best"], "plan")
        (plan,) = advice["proof"]["tried"]
        self.assertLess(plan["counted"]["remote"], 0.02)
        for figure in ("remote", "whole_remote"):
            self.assertAlmostEqual(plan["counted"][figure], plan["predicted"][figure], delta=0.02)
        for figure in ("seconds", "whole_seconds"):
            self.assertAlmostEqual(plan["counted"][figure] / plan["predicted"][figure], 1, delta=0.1)
        before = advice["plans"][0]["before"]
        self.assertGreater(before["seconds"], 1.5 * plan["counted"]["seconds"])
        self.assertGreater(before["whole_seconds"], plan["counted"]["whole_seconds"])
        self.assertEqual(len(json.loads((self.directory / "p.json").read_text())["objects"]), 3)

    def test_people_see_both_beside_the_plain_run(self) -> None:
        self.profile("--write-plan", "p.json")
        rows = [line.split()[0:2] for line in self.said.splitlines() if line.startswith("  plan, ")]
        self.assertEqual(rows, [["plan,", "predicted"], ["plan,", "counted"]])
        self.assertIn(f"  nodewise run --plan p.json --on {MACHINE} -- {PROGRAM} 16 3\n", self.said)

    def test_it_can_be_skipped(self) -> None:
        self.assertNotIn("proof", self.advice("--no-prove"))

    # Output would be there twice, a file would have two lines, and what was read would be missing.
    def test_the_program_seems_to_have_run_once(self) -> None:
        script = f'read word && echo "$word" >> log && echo ran && exec {PROGRAM} 16 3'
        (self.directory / "input").write_text("first\nsecond\n")
        with open(self.directory / "input", encoding="utf-8") as given:
            given.readline()  # it begins in the middle
            given.seek(given.tell())
            advice = self.advice(command=("sh", "-c", script), stdin=given)
        self.assertNotIn("problem", advice["proof"]["tried"][0])
        self.assertEqual((self.directory / "log").read_text(), "second\n")
        leftovers = [each.name for each in self.directory.iterdir() if each.name.startswith(".nodewise")]
        self.assertEqual(leftovers, [])

    def test_a_program_that_ends_otherwise_the_second_time_is_not_judged(self) -> None:
        script = f'read word || exit 9; exec {PROGRAM} 16 3'
        advice = self.advice(command=("sh", "-c", script), stdin=None, input="once\n")
        problem = advice["proof"]["tried"][0]["problem"]
        self.assertEqual(problem, "with the plan, the program ended with exit code 9 instead of 0")
        self.assertEqual(advice["proof"]["best"], "plan")

    def test_its_end_is_the_programs(self) -> None:
        self.advice(command=("sh", "-c", f"{PROGRAM} 16 3; exit 7"), code=7)


if __name__ == "__main__":
    unittest.main()
