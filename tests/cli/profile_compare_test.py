# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile --compare`: what changed from one profile to another, as text, as JSON, in a file."""

import json
import unittest
from pathlib import Path

from command import conforms
from profile_input_test import InputTest, PAGES, edited, profile


class Compared(InputTest):
    def test_what_moved(self):
        def spread(document):
            for each in document["programs"][0]["objects"]:
                each["where"] = f"0+{PAGES // 2}@0 {PAGES // 2}+{PAGES // 2}@1"
        before, after = self.file(profile(), "a.json"), self.file(edited(spread), "b.json")
        text = self.expect(0, "profile", "--compare", before, after).stdout
        self.assertRegex(text, r"solver\.c:20 +16\.0 MiB +50(\.0)? % +0 % +N0 100 % +N0 50(\.0)? %, N1 50(\.0)? %")
        result = self.expect_json(0, "profile", "--json", "--compare", before, after)
        saved = Path(before).with_name("saved.json")
        self.assertEqual(self.expect(0, "profile", "--compare", before, after, "-o", str(saved)).stdout, text)
        self.assertEqual(json.loads(saved.read_text()), result)
        saved.unlink()
        self.assertEqual(self.expect(0, "profile", "--json", "--compare", before, after, "-o", str(saved)).stdout, "")
        self.assertEqual(json.loads(saved.read_text()), result)
        self.assertIsNone(conforms(result, "comparison-1"))
        self.assertEqual([s["after"]["remote"] for s in result["sites"]], [0, 0])
        self.assertEqual(result["doubts"], [])

    def test_of_different_programs_that_is_said(self):
        def renamed(document):
            document["command"] = ["./other"]
            document["programs"][0]["name"] = "other"
        files = self.file(profile(), "a.json"), self.file(edited(renamed), "b.json")
        text = self.expect(0, "profile", "--compare", *files).stdout
        self.assertIn("the commands differ", text)
        # The only program of each, so the arrays are the same.
        result = self.expect_json(0, "profile", "--json", "--compare", *files)
        self.assertIsNone(conforms(result, "comparison-1"))
        self.assertEqual([(s["program"], s["program_after"], s["name_after"]) for s in result["sites"]],
                         [("solver", "other", "solver.c:20"), ("solver", "other", "solver.c:21")])

    def test_what_only_one_has_is_absent_in_the_other(self):
        def without_the_last(document):
            document["programs"][0]["objects"].pop()
        files = self.file(profile(), "a.json"), self.file(edited(without_the_last), "b.json")
        text = self.expect(0, "profile", "--compare", *files).stdout
        self.assertRegex(text, r"solver\.c:21 +16\.0 MiB +50(\.0)? % +- +N0 100 % +absent")
        self.assertIn("Findings: ", text)
        result = self.expect_json(0, "profile", "--json", "--compare", *files)
        self.assertIsNone(conforms(result, "comparison-1"))
        self.assertEqual([s["after"] == "absent" for s in result["sites"]], [False, True])

    def test_two_files_are_needed(self):
        self.expect(2, "profile", "--compare", self.file(profile()))
        self.expect(2, "profile", "--compare", self.file(profile()), "x", "y")
        self.expect(3, "profile", "--compare", self.file(profile()), "/nonexistent.json")


if __name__ == "__main__":
    unittest.main()
