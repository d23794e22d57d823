# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise report` of two measurements and of two files of counted traffic: what changed is at the top."""

import copy
import json
import unittest
from pathlib import Path

from report_page import HOSTILE, ReportTest

RESULTS = Path(__file__).parents[1] / "data/results"
SAMPLES = [10, 10.1, 10.2, 10.3, 10.4, 10.5]


class ComparedMeasurements(ReportTest):
    CHANGED = "Figures whose intervals do not overlap"

    def measured(self):
        """Of this machine, with chosen samples."""
        measured = ("measure", "--json", "--time", "0.01", "--size", "4M", "--only", "bandwidth,latency")
        state = {"XDG_STATE_HOME": str(self.folder)}
        return self.with_samples(self.expect_json(0, *measured, env=state), SAMPLES)

    def with_samples(self, document, samples):
        made = copy.deepcopy(document)
        for point in made["points"]:
            point.pop("unavailable", None)
            point.pop("visits", None)
            point.update(samples=samples, stolen=0, others=0, elsewhere=0)
        return made

    def test_the_page_begins_with_what_changed(self):
        before = self.measured()
        after = self.with_samples(before, [2 * each for each in SAMPLES])
        page = self.page_of(before, after)
        latencies = sum(each["unit"] == "ns" for each in before["points"])
        bandwidths = len(before["points"]) - latencies
        self.assertEqual(
            page.verdict,
            f"Of {latencies + bandwidths} figures in both measurements, {bandwidths} became better and {latencies} worse.",
        )
        by_figure = {(row[0], row[1]): row[2:] for row in page.tables[self.CHANGED][1:]}
        self.assertEqual(len(by_figure), len(before["points"]))
        self.assertEqual(by_figure["latency", "node 0 -> node 0"],
                         ["10.25 ns (10 to 10.5)", "20.5 ns (20 to 21)", "2", "worse"])  # fmt: skip
        self.assertEqual(by_figure["bandwidth", "node 0 -> node 0"][-1], "better")

    def test_figures_that_are_alike_are_not_changes(self):
        before = self.measured()
        page = self.page_of(before, before)
        self.assertNotIn(self.CHANGED, page.tables)
        self.assertIn("No figure changed by more than its interval.", page.texts["p"])
        self.assertEqual(len(page.tables["Figures whose intervals overlap"]) - 1, len(before["points"]))

    def test_measurements_of_other_hosts_say_so(self):
        before = self.measured()
        page = self.page_of(before, before | {"host": "elsewhere"})
        self.assertTrue(any(each.startswith("Different things were measured: ") for each in page.texts["p"]))

    def test_three_are_not_compared(self):
        self.assertFalse([each for each in self.page_of(*[self.measured()] * 3).ids if each.startswith("comparison-")])


class ComparedTraffic(ReportTest):
    ARRAYS = "Counted cache lines of each array, most remote lines first"

    def setUp(self):
        super().setUp()
        self.before = json.loads((RESULTS / "counts.json").read_text())
        self.after = copy.deepcopy(self.before)
        for each in (*self.after["sites"], *self.after["lines"], self.after):
            moved = each["use"]
            moved["local_lines"] += moved["remote_lines"]
            moved |= {"remote_lines": 0, "local": 1}

    def test_each_array_has_its_remote_share_before_and_after(self):
        page = self.page_of(self.before, self.after)
        local = f"{100 * self.before['use']['local']:.1f} %"
        self.assertEqual(page.verdict, f"Of the counted memory traffic, {local} was local before, and 100 % is local after.")
        first = max(self.before["sites"], key=lambda each: each["use"]["remote_lines"])
        remote = first["use"]["remote_lines"]
        share = remote / (remote + first["use"]["local_lines"] + first["use"]["unknown_lines"])
        self.assertEqual(page.tables[self.ARRAYS][1], [first["name"], f"{100 * share:.1f} %", "0 %", str(remote), "0"])
        self.assertIn("Counted cache lines of each line, most remote lines first", page.tables)

    def test_an_array_of_one_file_alone_moved_nothing_in_the_other(self):
        gone = self.after["sites"].pop(0)["name"]
        page = self.page_of(self.before, self.after)
        row = next(each for each in page.tables[self.ARRAYS] if each[0] == gone)
        self.assertEqual((row[2], row[4]), ("nothing moved", "0"))

    def test_hostile_names_stay_texts(self):
        for each in self.after["sites"]:
            each["name"] = HOSTILE
        page = self.page_of(self.before, self.after)
        self.assertLessEqual(page.scripts, 2)  # its data and its own
        self.assertNotIn("<script>alert", (self.folder / "page.html").read_text().split("<script>/*!")[0])


if __name__ == "__main__":
    unittest.main()
