# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`--csv` of measure, model and tune: one row for each figure, equal to the JSON of the same result."""

import csv
import json
import os
import tempfile
import unittest
from pathlib import Path

from command import CommandTest

LOOP = ("--input", "lab:westmere-2x6", "--kernel", "triad")
SLOWER_WITH_THREE = "case $OMP_NUM_THREADS in 3) exit 7;; 2) echo time 1.0, 5 steps;; *) echo time 2.0, 5 steps;; esac"


def rows_of(text):
    """One dictionary a row; every row has all fields of the first line, and no more."""
    rows = list(csv.reader(text.splitlines(), strict=True))
    assert {len(row) for row in rows} == {len(rows[0])}, text
    return [dict(zip(rows[0], row)) for row in rows[1:]]


class Csv(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=os.getcwd())))

    def test_measure_has_a_row_for_each_figure(self):
        file = self.folder / "it.json"
        self.expect(0, "measure", "--only", "bandwidth,latency", "--time", "0.01", "--size", "4M", "--no-keep", "-o", str(file))
        document = json.loads(file.read_text())
        # A figure that is unavailable, with a reason that has every sign that needs quotes.
        document["points"][0] = {key: document["points"][0][key] for key in (
            "experiment", "label", "unit", "from", "to", "threads", "bytes")}
        document["points"][0] |= {"unavailable": 'refused, "no"\n\x1b', "wrong": False}
        file.write_text(json.dumps(document))
        rows = rows_of(self.expect(0, "measure", "--csv", str(file)).stdout)
        self.assertEqual(len(rows), len(document["points"]))
        self.assertEqual(rows[0]["unavailable"], 'refused, "no"\\n\\x1b')
        self.assertEqual((rows[0]["median"], rows[0]["low"], rows[0]["two_humped"]), ("", "", ""))
        for row, point in list(zip(rows, document["points"]))[1:]:
            for name in ("experiment", "label", "unit"):
                self.assertEqual(row[name], point[name])
            for name in ("threads", "bytes", "median", "low", "high", "confidence"):
                self.assertEqual(float(row[name]), point[name])
            for name in ("on_node", "in_huge_pages", "stolen", "frequency_mhz"):
                self.assertEqual(row[name] or "unavailable", "unavailable" if row[name] == "" else row[name])
                self.assertEqual(row[name] == "", point[name] == "unavailable", name)

    def test_model_has_a_row_for_each_time(self):
        for options in ((), ("--sweep", "threads=1,2,12"), ("--sweep", "memory=serial,weighted:0=1,1=3")):
            with self.subTest(options):
                result = self.expect_json(0, "model", "--json", *LOOP, *options)
                answers = [(point["value"], point["predicted"]) for point in result.get("points", [])]
                answers = answers or [("", result["predicted"])]
                rows = rows_of(self.expect(0, "model", "--csv", *LOOP, *options).stdout)
                expected = []
                for value, answer in answers:
                    expected.append((result.get("swept", ""), value, "as given", answer["seconds"], 1))
                    expected += [(result.get("swept", ""), value, each["name"], each["seconds"], each["ratio_to_asked"])
                                 for each in answer["alternatives"]]
                self.assertEqual([(row["swept"], row["value"], row["placement"], float(row["seconds"]),
                                   float(row["ratio_to_asked"])) for row in rows], expected)
                self.assertEqual(float(rows[0]["gb_per_s"]), answers[0][1]["gb_per_s"])

    def test_what_the_model_does_not_know_is_empty(self):
        rows = rows_of(self.expect(0, "model", "--csv", "--input", "2x2", "--kernel", "triad").stdout)
        self.assertEqual((rows[0]["seconds"], rows[0]["gb_per_s"], rows[0]["moved_gb_per_s"]), ("", "", ""))
        self.assertEqual(rows[0]["ratio_to_asked"], "1")

    def test_tune_has_a_row_for_each_figure_of_each_setting(self):
        (self.folder / "settings").write_text("--threads 2\n--threads 3 --rule 'size>=1M,size>=2M:bind:0'\n")
        command = ("tune", "--candidates", "settings", "--figure", "time ([0-9.]+)", "--figure", ", ([0-9]+) steps", "--seed", "1")
        end = ("--", "sh", "-c", SLOWER_WITH_THREE)
        changes = {"cwd": self.folder, "env": {"OMP_NUM_THREADS": ""}}
        rows = rows_of(self.expect(0, *command, "--csv", *end, **changes).stdout)
        deciding = [row for row in rows if row["figure"] == "time ([0-9.]+)"]
        self.assertEqual([row["setting"] for row in deciding],
                         ["as it is", "--threads 2", "--threads 3 --rule 'size>=1M,size>=2M:bind:0'"])
        self.assertEqual([row["median"] for row in deciding], ["2", "1", ""])
        self.assertEqual([row["chosen"] for row in deciding], ["false", "true", "false"])
        self.assertEqual(deciding[2]["state"], "disqualified")
        self.assertIn("exit code 7", deciding[2]["reason"])
        self.assertEqual((deciding[2]["ratio_low"], deciding[2]["predicted_ratio"]), ("", ""))
        steps = [row for row in rows if row["figure"] == ", ([0-9]+) steps"]
        self.assertEqual([row["median"] for row in steps], ["5", "5", ""])
        document = self.expect_json(0, *command, "--json", *end, **changes)
        self.assertEqual([float(row["ratio_to_as_it_is"]) for row in deciding[:2]],
                         [each["to_as_it_is"]["ratio"] for each in document["candidates"][:2]])

    def test_misuse(self):
        self.expect(2, "model", *LOOP, "--csv", "--json")
        self.expect(2, "tune", "--dry-run", "--csv", "--", "true")
        self.expect(2, "measure", "--compare", "a.json", "b.json", "--csv")


if __name__ == "__main__":
    unittest.main()
