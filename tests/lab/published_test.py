# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`make published`, run once: what it must say of the published measurements."""

import json
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import lab

TABLE = lab.ROOT / "published/table.py"


class Published(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nodewise-published-")))
        done = subprocess.run(
            [sys.executable, "-B", TABLE, "--build", lab.BUILD, "--output", cls.folder, "--quiet"],
            capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip
        if done.returncode != 0:
            raise AssertionError(done.stdout + done.stderr)
        cls.text = done.stdout
        document = json.loads((cls.folder / "table.json").read_text())
        cls.cases = {case["case"]: case for case in document["cases"]}
        cls.problems = {problem["problem"]: problem["values"] for problem in document["problems"]}
        cls.figures = {Path(figure["path"]).name: figure for figure in document["figures"]}

    def readings(self, case: str, **wanted: object) -> list[dict]:
        return [
            reading
            for reading in self.cases[case]["readings"]
            if all(reading[key] == value for key, value in wanted.items())
        ]

    def number(self, reading: dict, name: str) -> dict:
        return next(number for number in reading["numbers"] if number["name"] == name)

    def assert_within(self, number: dict, share: float) -> None:
        self.assertIsNotNone(number["error"], number)
        self.assertLessEqual(abs(number["error"]), share, number)

    def test_every_row_of_the_field_guide_is_there(self) -> None:
        self.assertEqual(len(self.cases), 11)

    def test_hlrs_gain_without_a_fit(self) -> None:
        (reading,) = self.readings("01-hlrs", named=True)
        self.assertIsNone(reading["fitted"])
        self.assert_within(self.number(reading, "gain"), 0.05)

    def test_rwth_without_a_fit_and_with_one_value(self) -> None:
        bare, fitted = self.readings("02-rwth-stream", named=True)
        self.assertIsNone(bare["fitted"])
        for kernel in ("copy", "scale", "add", "triad"):
            self.assert_within(self.number(bare, f"{kernel}, serial"), 0.12)
            self.assert_within(self.number(bare, f"{kernel}, ratio"), 0.12)
        self.assertAlmostEqual(fitted["fitted"], 0.91, delta=0.01)
        for name in ("copy, serial", "copy, ratio"):  # what was fitted is no prediction
            self.assertIsNone(self.number(fitted, name)["error"])
        for kernel in ("scale", "add", "triad"):
            self.assert_within(self.number(fitted, f"{kernel}, serial"), 0.05)
            self.assert_within(self.number(fitted, f"{kernel}, ratio"), 0.05)

    def test_baselines_of_yuca_and_aloe_under_the_named_hypothesis(self) -> None:
        for case, limit in (("05-yuca-tbb", "processors"), ("06-aloe-tbb", "memory")):
            with self.subTest(case):
                (named,) = self.readings(case, named=True)
                self.assertEqual(named["limit"], limit)
                usual = self.number(named, "usual")
                # Each thread keeps its share, and half of the threads are on the node with the
                # data: what is no line of the arrays is less than one in a hundred.
                self.assertAlmostEqual(usual["local_seen"], 0.5, delta=0.01)
                self.assert_within(usual, 0.06)
                other = "memory" if limit == "processors" else "processors"
                self.assertTrue(self.readings(case, limit=other), "both hypotheses are shown")

    def test_inputs_are_no_predictions(self) -> None:
        for case in ("03-yuca-stream", "04-aloe-stream"):
            for reading in self.cases[case]["readings"]:
                for number in reading["numbers"]:
                    self.assertTrue(number["is_input"])
                    self.assertIsNone(number["error"])

    def test_what_cannot_be_explained_is_marked(self) -> None:
        marked = {name for name, case in self.cases.items() if case["unexplained"]}
        self.assertEqual(marked, {"06-aloe-tbb", "07-aloe-local-remote", "11-laws"})
        self.assertEqual(self.text.count("NOT EXPLAINED"), len(marked))
        (laws,) = self.readings("11-laws")
        self.assertIsNone(laws["numbers"][0]["predicted"])

    def test_counts_of_the_lab_are_what_the_programs_do(self) -> None:
        for name, local in (("serial initialisation", 0.5), ("parallel initialisation", 1)):
            (reading,) = self.readings("01-hlrs")
            self.assertAlmostEqual(self.number(reading, name)["local_seen"], local, delta=0.01)

    def test_shapes_of_figure_8_4_hold(self) -> None:
        (reading,) = self.readings("08-opteron-triad")
        held = [number["shape_holds"] for number in reading["numbers"] if number["shape_holds"] is not None]
        self.assertEqual(held, [True, True])

    def test_dynamic_scheduling_under_both_readings(self) -> None:
        values = self.problems["8.1"]
        simulated, exact = values["the same, played by the model"], values["crowded ones last longer"]
        for found, wanted in zip(simulated, exact):
            self.assertAlmostEqual(found / wanted, 1, delta=0.02)
        self.assertAlmostEqual(values["every configuration lasts equally long"][0], 1.5)

    def test_the_hole_of_figure_8_7_is_gone_with_staggered_arrays(self) -> None:
        values = self.problems["8.2"]
        at = {chunk: k for k, chunk in enumerate(values["chunks"])}
        for chunk in (16, 32, 64, 128):
            self.assertLess(values["static"][at[chunk]], 1.1)
        self.assertGreater(values["static"][at[512]], 3.8)
        rising = values["static, arrays staggered"][: at[512] + 1]
        self.assertEqual(rising, sorted(rising))
        self.assertGreater(min(values["static, arrays staggered"][at[512] :]), 3.9)

    def test_triangular_loop(self) -> None:
        values = self.problems["8.4"]
        for found, wanted in zip(values["static"], values["T/(2T-1)"]):
            self.assertAlmostEqual(found, wanted, delta=0.01)
        self.assertGreater(min(values["counted: chunks of 4 rows, touched alike"]), 0.97)

    def test_objects_touched_by_objects_are_local(self) -> None:
        values = self.problems["8.5"]
        self.assertGreater(values["by-object"], 0.99)
        self.assertLess(values["by-byte"], 0.5)

    def test_figures_are_drawn_and_their_shapes_told(self) -> None:
        self.assertEqual(set(self.figures), {f"figure-8.{k}.svg" for k in (4, 7, 9)})
        for name, figure in self.figures.items():
            self.assertIn("The book's shape", figure["text"])
            self.assertIn("<svg", (self.folder / name).read_text())
        cached = [y for _, y in self.figures["figure-8.9.svg"]["curves"]["static, first touch"]]
        self.assertEqual(cached, sorted(cached, reverse=True))
        self.assertAlmostEqual(cached[-1] / cached[0], 0.5, delta=0.03)

    def test_the_text_fits_its_width(self) -> None:
        shown = [line for line in self.text.splitlines() if not re.match(r"/", line)]
        self.assertLessEqual(max(map(len, shown)), 92)


if __name__ == "__main__":
    unittest.main()
