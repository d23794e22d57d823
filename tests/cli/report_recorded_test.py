# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Results of each kind, recorded in virtual machines (tests/data/results): each has a page."""

import json
import unittest
from pathlib import Path

from report_page import HOSTILE, ReportTest

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "tests/data/results"


def recorded(name):
    return json.loads((RESULTS / f"{name}.json").read_text())


class Recorded(ReportTest):
    def test_each_has_a_page_with_a_sentence_and_where_it_was(self):
        files = sorted(RESULTS.glob("*.json"))
        self.assertGreater(len(files), 8)
        for file in files:
            with self.subTest(file.name):
                page = self.page_of(json.loads(file.read_text()))
                self.assertGreater(len(page.verdict.split()), 3)
                # The hosts of a job are what is drawn.
                self.assertIn("job-hosts" if file.stem == "job" else "machine", page.ids)

    def test_the_machine_of_topo_is_a_result(self):
        self.assertEqual(self.page_of(recorded("machine")).verdict, "nehalem-2x4: 2 nodes with 8 cores")
        file = self.folder / "here.json"
        self.expect(0, "topo", "-o", str(file))
        self.assertIn("machine", self.page_of(json.loads(file.read_text())).ids)


class Picture(ReportTest):
    # Of sparse matrices: recorded by the commands in docs/sparse.md; only large arrays, without first touches.
    RECORDED = {"profile": "arrays", "sparse_usual": "sparse-usual", "sparse_library": "sparse-library"}

    def test_those_of_the_docs_are_what_the_command_draws(self):
        for result, picture in self.RECORDED.items():
            with self.subTest(picture):
                drawn = self.expect(0, "report", str(RESULTS / f"{result}.json"), "--figure", "arrays").stdout
                self.assertEqual(drawn.strip(), (ROOT / f"docs/pictures/{picture}.svg").read_text().strip())


class Run(ReportTest):
    CAPTION = "Large objects, largest first"

    def test_objects_are_those_of_the_file(self):
        page = self.page_of(recorded("run"))
        self.assertEqual(
            page.verdict,
            "3 large objects of 48.0 MiB: 100 % of the located pages are on a node that was asked for; "
            "100 % are on the node of the thread that a static schedule gives them.",
        )
        self.assertEqual(page.column(self.CAPTION, "object"), ["usual.c:16", "usual.c:17", "usual.c:18"])
        self.assertEqual(page.column(self.CAPTION, "pages on"), ["N0 50.0 %, N1 50.0 %"] * 3)
        self.assertEqual(page.column("Threads at the end", "may run on"), [str(cpu) for cpu in range(8)])

    def test_what_did_not_happen_is_shown(self):
        document = recorded("run")
        refused, lost = document["processes"][0]["objects"][:2]
        refused |= {"placed": False, "not_placed": "mbind: EPERM", "as_asked": "unavailable"}
        lost |= {"as_asked": 0.25, "strip": ["not resident", "mixed", "unknown", 1]}
        document |= {"as_asked": False, "warnings": ["the map limit was reached"], "signal": 11,
                     "plan": {"file": "p.json", "entries": [{"label": "solver.c:9", "left_out": "no such line"}]}}
        page = self.page_of(document)
        self.assertIn("62.5 % of the located pages", page.verdict)  # 25 % and 100 % of two objects
        self.assertEqual(page.column(self.CAPTION, "not placed because"), ["mbind: EPERM", "", ""])
        self.assertEqual(page.column("Entries of p.json", "left out because"), ["no such line"])
        self.assertIn("the map limit was reached", page.texts["li"])
        self.assertIn("Not all that was asked for memory has happened.", page.texts["p"])
        self.assertIn("signal 11", page.texts["dd"])

    def test_without_large_objects(self):
        document = recorded("run")
        document["processes"][0]["objects"] = []
        self.assertEqual(self.page_of(document).verdict, "No large object was seen.")

    def test_no_file_breaks_the_page(self):
        document = recorded("run")
        self.check_damage(document)
        for wrong in ({"strip": [0] * 65}, {"strip": [-1]}, {"per_node": [{"node": 0, "pages": -1}]}, {"as_asked": -1}):
            damaged = recorded("run")
            damaged["processes"][0]["objects"][0] |= wrong
            self.refused(damaged, next(iter(wrong)))
        for pages in (0, 1, 3, 2**62):
            document["processes"][0]["objects"][0] |= {"pages": pages}
            self.page_of(document)

    def test_hostile_names_stay_texts(self):
        document = recorded("run")
        document |= {"command": [HOSTILE], "warnings": [HOSTILE],
                     "plan": {"file": HOSTILE, "entries": [{"label": HOSTILE, "placement": HOSTILE}]}}
        process = document["processes"][0]
        process["program"] = HOSTILE
        process["objects"][0] |= {"site": HOSTILE, "not_placed": HOSTILE}
        process["threads"][1]["name"] = HOSTILE
        self.check_hostile(document)


if __name__ == "__main__":
    unittest.main()
