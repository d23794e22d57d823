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
from profile_exports_test import MACHINE_WITH_FIGURES, counted, in_time, sampled, unused
from profile_input_test import PAGES
from report_page import HOSTILE, ReportTest

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
        self.assertTrue(any(each.startswith("nodewise run --plan plan.json --verify -- ") for each in page.texts["code"]))
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


def cured(name="cured", shift=0):
    """The program of `counted` with each page on the node that uses it; `shift`: of source lines."""
    document = counted(name, machine=MACHINE_WITH_FIGURES)
    for each in document["programs"][0]["objects"]:
        each |= {"where": f"0+{PAGES // 2}@0 {PAGES // 2}+{PAGES // 2}@1"}
        for frame in each["made_at"]:
            if "line" in frame:
                frame["line"] += shift
    return document


class OverTime(ReportTest):
    def test_threads_and_the_remote_share_are_those_of_the_file(self):
        page = self.page_of(in_time())
        for each in ("threads-in-time", "remote-in-time"):
            self.assertTrue(self.expect(0, "report", self.write(in_time()), "--figure", each).stdout.startswith("<svg "))
        self.assertTrue(any(each.startswith("solver 101, seconds 0 to 1.96: node 0 100 %") for each in page.texts["title"]),
                        page.texts["title"])
        self.assertEqual(page.tables["Sampled accesses over time"][1:], [["solver", "1.75 s", "51", "7", "2"]])
        self.assertTrue(any("12.07" in each for each in page.texts["title"]), "7 of 58")

    def test_many_threads_are_one_strip(self):
        document = in_time()
        threads = document["programs"][0]["threads"]
        threads += [threads[1] | {"tid": 1000 + i, "main": False} for i in range(64)]
        page = self.page_of(document)
        self.assertIn("solver, 65 threads, from 0 s to 64 s", page.texts["text"])
        self.assertTrue(any(each.startswith("solver, seconds 0 to 1.96: node 0 100 %") for each in page.texts["title"]))

    def test_what_is_not_known_is_said(self):
        for document, words in ((counted(), "the lab counts cache lines without their times"),
                                (unused(), "accesses were not sampled"), (sampled(), "no times of accesses")):
            page = self.page_of(document)
            self.assertTrue(any("the remote share over time: " in each and words in each for each in page.texts["li"]))
            self.assertTrue(any("where threads were over time: " in each for each in page.texts["li"]))
            self.assertNotIn("time", page.ids)

    def test_damaged_times_are_refused(self):
        for field, value in (("interval_s", -1), ("uses_in_time", ["3+1 0/0"]), ("uses_in_time", ["127+2 0/0:1"]),
                             ("uses_in_time", ["3+2 0/0:1", "4+1 0/0:1"]), ("uses_in_time", ["3+1 0/0:-1"])):
            document = in_time()
            document["programs"][0][field] = value
            self.refused(document, f"programs[0].{field}")
        for text in ("0+129@0", "4+1@0 3+1@0", "0+0@0", "x", "0+1@0 "):
            document = in_time()
            document["programs"][0]["threads"][0]["seen"] = text
            self.refused(document, "programs[0].threads[0].seen")


class ComparedProfiles(ReportTest):
    CAPTION = "Arrays, largest first"
    FINDINGS = "What is gone, new and still there"

    def compared(self, *documents):
        files = [self.write(each, f"{i}.json") for i, each in enumerate(documents)]
        return self.expect_json(0, "profile", "--compare", "--json", *files)

    def test_the_page_begins_with_what_changed(self):
        before = counted(machine=MACHINE_WITH_FIGURES)
        page = self.page_of(before, cured("solver"))
        figures = self.compared(before, cured("solver"))
        self.assertEqual((figures["before"]["remote"], figures["after"]["remote"]), (0.5, 0))
        self.assertTrue(page.verdict.startswith("50.0 % of the memory traffic was remote before, 0 % after"), page.verdict)
        self.assertEqual(page.column(self.CAPTION, "array"), ["solver.c:20", "solver.c:21"])
        self.assertEqual(page.column(self.CAPTION, "remote before"), ["50.0 %"] * 2)
        self.assertEqual(page.column(self.CAPTION, "remote after"), ["0 %"] * 2)
        self.assertEqual(page.column(self.CAPTION, "traffic before"), ["50.0 %"] * 2)
        self.assertEqual(page.column(self.CAPTION, "pages after"), ["N0 50.0 %, N1 50.0 %"] * 2)

    def test_its_findings_are_those_of_the_comparison(self):
        before = counted(machine=MACHINE_WITH_FIGURES)
        for documents, change in (((before, cured("solver")), "gone"), ((cured("solver"), before), "new"),
                                  ((before, before), "still there")):
            page = self.page_of(*documents)
            self.assertEqual(page.column(self.FINDINGS, "change"), [change])
            self.assertIn("solver.c:20 and solver.c:21", page.column(self.FINDINGS, "finding")[0])
            self.assertEqual([each["arrays"] for each in self.compared(*documents)["findings"]],
                             [["solver.c:20", "solver.c:21"]])

    def test_without_evidence_a_finding_is_not_gone(self):
        blind = cured("solver")
        blind["programs"][0]["use_from"] = "none"
        blind["evidence"] |= {"counts": False, "faults": False}
        for each in blind["programs"][0]["objects"]:
            each |= {"uses": [], "used_at": [], "touches": [], "touched": ""}
        page = self.page_of(counted(machine=MACHINE_WITH_FIGURES), blind)
        self.assertEqual(page.column(self.FINDINGS, "change"), ["found before, not checked after"])

    def test_arrays_are_recognized_in_an_edited_program(self):
        page = self.page_of(counted(machine=MACHINE_WITH_FIGURES), cured(shift=4))
        self.assertEqual(page.column(self.CAPTION, "array"),
                         ["solver.c:20, then solver.c:24", "solver.c:21, then solver.c:25"])
        self.assertEqual(page.column(self.CAPTION, "remote after"), ["0 %"] * 2)
        self.assertTrue(any("matched by size and order" in each for each in page.texts["li"]))
        self.assertEqual(page.column(self.FINDINGS, "change"), ["gone"])

    def test_arrays_of_other_sizes_are_not_matched(self):
        other = cured(shift=4)
        other["programs"][0]["objects"][1]["bytes"] -= 4096
        page = self.page_of(counted(machine=MACHINE_WITH_FIGURES), other)
        self.assertEqual(sorted(page.column(self.CAPTION, "array")),
                         ["solver.c:20 in solver", "solver.c:21 in solver", "solver.c:24 in cured", "solver.c:25 in cured"])
        self.assertEqual(sorted(page.column(self.CAPTION, "remote after")), ["0 %", "0 %", "absent", "absent"])

    def test_each_file_has_its_sections_and_pictures(self):
        page = self.page_of(counted(), cured())
        for each in ("comparison-arrays", "comparison-remote", "arrays", "arrays-2", "result", "result-2"):
            self.assertIn(each, page.ids)
        headings = [each for each in page.texts["h2"] if each.startswith("Arrays")]
        self.assertEqual(headings, ["Arrays before and after", "Arrays ", "Arrays "])
        self.assertEqual({each for each in page.texts["span"] if each.endswith(".json")},
                         {str(self.folder / "0.json"), str(self.folder / "1.json")})
        files = [self.write(counted(), "a.json"), self.write(cured(), "b.json")]
        drawn = self.expect(0, "report", *files, "--figure", "comparison-arrays").stdout
        for band in ("before: pages on, pages 0 to", "before: used on", "after: pages on", "after: used on"):
            self.assertIn(band, drawn)
        self.assertIn("comparison-remote, machine, arrays", self.expect(2, "report", *files, "--figure", "x").stderr)

    def test_ranks_of_a_job_and_three_profiles_are_not_compared(self):
        ranks = [counted(), counted()]
        for i, each in enumerate(ranks):
            each["programs"][0]["rank"] = i
        self.assertNotIn("comparison-arrays", self.page_of(*ranks).ids)
        self.assertNotIn("comparison-arrays", self.page_of(counted(), counted(), counted()).ids)

    def test_a_thread_that_moved_counts_for_each_of_its_nodes(self):
        moved = counted(machine=MACHINE_WITH_FIGURES)
        moved["programs"][0]["threads"][3]["stays"] = [{"node": 0, "samples": 40}, {"node": 1, "samples": 60}]
        page = self.page_of(moved)
        remote = self.compared(moved, moved)["before"]["remote"]
        self.assertAlmostEqual(remote, 0.4)
        self.assertIn(f"{remote * 100:.1f} % of the counted memory traffic", page.verdict)
        self.assertEqual(page.column("Arrays, most used first", "remote"), ["40.0 %"] * 2)

    def test_hostile_names_stay_texts(self):
        page = self.page_of(counted(name=HOSTILE), cured(HOSTILE, shift=4))
        text = (self.folder / "page.html").read_text().split("<script>/*!")[0]
        self.assertNotIn("<script>alert", text)
        self.assertNotIn("\x1b", text)
        self.assertIn("comparison-arrays", page.ids)


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

    def test_after_a_run_it_follows_what_verify_prints(self):
        file = self.folder / "run.json"
        placed = ("run", "--memory", "local", "-o", str(file))
        self.assertIn(f"nodewise report {file}", on_a_terminal(*placed, "--verify", "--", "true").decode())
        self.assertNotIn("nodewise report", on_a_terminal(*placed, "--", "true").decode())


class Input(ReportTest):
    def test_what_is_no_result_is_refused(self):
        self.assertIn("it names no schema", self.expect(3, "report", self.write("{}")).stderr)
        self.assertIn("nothing is known of nodewise/plan/1", self.expect(3, "report", self.write({"schema": "nodewise/plan/1"})).stderr)
        self.assertIn("no result is named", self.expect(2, "report").stderr)


if __name__ == "__main__":
    unittest.main()
