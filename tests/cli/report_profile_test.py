# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The page of a profile, of counted traffic and of a measurement, and single pictures of it."""

import copy
import json
import os
import shlex
import subprocess
import unittest
from pathlib import Path

from command import COMMAND, environment, on_a_terminal
from profile_exports_test import MACHINE_WITH_FIGURES, counted, unused
from report_page import ReportTest

MEASURED = Path(__file__).parents[2] / "bench/results/16-cores/measure_full.json"


class ProfilePage(ReportTest):
    def test_shares_are_those_of_the_json(self):
        page = self.page_of(counted())
        # Two arrays on node 0, each used equally by node 0 and node 1.
        self.assertIn("50.0 % of the counted memory traffic goes to another node", page.verdict)
        self.assertEqual(page.column("Arrays, most used first", "remote"), ["50.0 %", "50.0 %"])
        self.assertEqual(page.column("Arrays, most used first", "pages on"), ["N0 100 %", "N0 100 %"])
        self.assertEqual(page.column("Share of the traffic in percent", "memory of node 0"), ["50", "50"])

    def test_lines_have_the_shares_of_their_amounts(self):
        page = self.page_of(counted())
        self.assertEqual(page.column("Code that uses memory most", "line"), ["solver.c:40", "norm.c:7"])
        self.assertEqual(page.column("Code that uses memory most", "share of the traffic seen at lines"),
                         ["75.0 %", "25.0 %"])

    def test_a_finding_has_its_fix_and_the_plan_its_commands(self):
        page = self.page_of(counted(machine=MACHINE_WITH_FIGURES))
        self.assertTrue(any("--write-plan plan.json" in each for each in page.texts["code"]))
        self.assertTrue(any(each.startswith("nodewise run --plan plan.json -- ") for each in page.texts["code"]))
        self.assertIn("(predicted)", page.verdict)

    def test_lines_to_type_name_the_program(self):
        page = self.page_of(counted(machine=MACHINE_WITH_FIGURES))
        lines = [each for each in page.texts["code"] if each.startswith("nodewise run")]
        self.assertTrue(lines)
        for each in lines:
            self.assertNotIn("PROGRAM", each)
            self.assertIn(shlex.join(counted()["command"]), each)

    def test_objects_with_hardly_any_traffic_open_on_demand(self):
        document = counted()
        objects = document["programs"][0]["objects"]
        for number in range(5):
            small = copy.deepcopy(objects[0]) | {"id": 1000 + number, "uses": ["0+1 0:0.01"]}
            small["made_at"][-1]["line"] = 500 + number
            objects.append(small)
        page = self.page_of(document)
        self.assertEqual(len(page.column("Arrays, most used first", "array")), 2)
        self.assertEqual(len(page.column("5 others with at most 0.1 % of the traffic each", "array")), 5)

    def test_without_uses_nothing_is_said_of_them(self):
        page = self.page_of(unused())
        self.assertIn("was not observed", page.verdict)
        self.assertEqual(set(page.column("Arrays, most used first", "remote")), {"unavailable"})
        self.assertNotIn("traffic", page.ids)

    def test_hostile_names_stay_texts(self):
        self.page_of(counted(name="</script><script>alert(1)</script>\x1b[2J"))
        text = (self.folder / "page.html").read_text().split("<script>/*!")[0]
        self.assertNotIn("<script>alert", text)
        self.assertNotIn("\x1b", text)

    def test_a_second_result_has_sections_of_its_own(self):
        page = self.page_of(counted(), json.loads(MEASURED.read_text()))
        self.assertIn("machine", page.ids)
        self.assertIn("machine-2", page.ids)
        self.assertEqual(len(page.ids), len(set(page.ids)))


class Measurement(ReportTest):
    def test_figures_are_those_of_the_file(self):
        document = json.loads(MEASURED.read_text())
        page = self.page_of(document)
        copies = next(each for each in document["points"] if each["experiment"] == "kernels" and each["label"] == "copy")
        self.assertEqual(page.column("Figures of kernels", "median")[0], f"{copies['median']:.4g} {copies['unit']}")
        scaling = [each["median"] for each in document["points"] if each["experiment"] == "scaling"]
        self.assertEqual(page.column("scaling", "median"), [f"{each:.4g} GB/s" for each in scaling])


class Pictures(ReportTest):
    def test_one_picture_alone(self):
        file = self.write(counted())
        drawn = self.expect(0, "report", file, "--figure", "arrays").stdout
        self.assertTrue(drawn.startswith("<svg "))
        self.assertIn("pages are on, pages 0 to", drawn)
        self.expect(0, "report", file, "--figure", "traffic", "-o", str(self.folder / "t.svg"))
        self.assertTrue((self.folder / "t.svg").read_text().startswith("<svg "))

    def test_an_unknown_picture_names_the_others(self):
        refused = self.expect(2, "report", self.write(counted()), "--figure", "x").stderr
        self.assertIn("machine, arrays, traffic", refused)

    def test_without_the_converter_a_png_is_refused_and_nothing_written(self):
        done = subprocess.run([COMMAND, "report", self.write(counted()), "--figure", "arrays", "-o", self.folder / "a.png"],
                              capture_output=True, text=True, env=environment(PATH=str(self.folder)))
        self.assertEqual(done.returncode, 4)
        self.assertIn("librsvg2-bin", done.stderr)
        self.assertEqual(list(self.folder.glob("a.png*")), [])


class Browser(ReportTest):
    def opened_by(self, browser, name="page.html"):
        return subprocess.run([COMMAND, "report", self.write(counted()), "--open", "-o", self.folder / name],
                              capture_output=True, text=True, env=environment(BROWSER=browser))

    def test_the_page_is_given_to_the_browser(self):
        browser = self.folder / "browser"
        browser.write_text(f"#!/bin/sh\nprintf %s \"$1\" > {self.folder}/opened\n")
        os.chmod(browser, 0o755)
        self.assertEqual(self.opened_by(str(browser)).returncode, 0)
        self.assertEqual((self.folder / "opened").read_text(), str(self.folder / "page.html"))
        done = self.opened_by(str(browser), "%h.html")
        self.assertEqual((self.folder / "opened").read_text(), str(self.folder / f"{os.uname().nodename}.html"))
        self.assertIn(f"The report is in {self.folder}/{os.uname().nodename}.html.", done.stdout)

    def test_without_a_browser_the_page_is_written_all_the_same(self):
        done = self.opened_by("/absent/browser")
        self.assertEqual(done.returncode, 4)
        self.assertIn("the page is written", done.stderr)
        self.assertTrue((self.folder / "page.html").read_text().endswith("</html>\n"))


class LineToType(ReportTest):
    def test_a_result_file_on_a_terminal_is_followed_by_the_line_that_shows_it(self):
        file = self.folder / "a machine.json"
        seen = on_a_terminal("topo", "--input", "lab:2x2", "-o", str(file)).decode()
        self.assertIn(f"nodewise report '{file}'", seen)
        self.assertNotIn("nodewise report", on_a_terminal("topo", "--input", "lab:2x2").decode())
        self.assertNotIn("nodewise report", self.expect(0, "topo", "--input", "lab:2x2", "-o", str(file)).stdout)


class Input(ReportTest):
    def test_what_is_no_result_is_refused(self):
        self.assertIn("it names no schema", self.expect(3, "report", self.write("{}")).stderr)
        self.assertIn("nothing is known of nodewise/plan/1", self.expect(3, "report", self.write({"schema": "nodewise/plan/1"})).stderr)
        self.assertIn("no result is named", self.expect(2, "report").stderr)


if __name__ == "__main__":
    unittest.main()
