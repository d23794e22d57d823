# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise report`: pages hold the figures of their files, and no file can break one."""

import copy
import json
import os
import unittest

from command import conforms, nodewise
from report_files import area, candidate, comparison, doctor, finding, pages, process, settings, side, tune
from report_page import HOSTILE, ReportTest, figure


class Tune(ReportTest):
    CAPTION = "Settings, best first"

    def test_figures_are_those_of_the_file(self):
        document = tune()
        self.assertIsNone(conforms(document | {"settings": settings()}, "tune-1"))
        page = self.page_of(document)
        self.assertEqual(
            page.verdict, "Use --bind close: it takes 20 % (15 to 25 %) less time than as it is (measured)."
        )
        self.assertIn(document["line"], page.texts["code"])
        rows = page.column(self.CAPTION, "setting")
        self.assertEqual(rows, ["--bind close", "as it is", "--bind spread", "--memory blocked"])
        self.assertEqual(page.column(self.CAPTION, "median"), ["1.73 s", "2.3 s", "3.125 s", "unavailable"])
        self.assertEqual(page.column(self.CAPTION, "interval of the median")[:2], ["1.7 to 1.76", "2 to 2.6"])
        self.assertEqual(page.column(self.CAPTION, "ratio to as it is")[0], "0.812 (0.71 to 0.91)")
        self.assertEqual(page.column(self.CAPTION, "predicted ratio")[0], "0.789 (0.7 to 0.8)")
        self.assertEqual(
            page.column(self.CAPTION, "verdict"),
            ["chosen", "", "set aside", "disqualified: it ended with exit code 7"],
        )
        self.assertIn("--bind spread, wall time (s): median 3.125, 1 figure; set aside", page.texts["title"])
        self.assertIn("the processors ran at different speeds", page.texts["li"])

    def test_what_is_predicted_is_not_called_measured(self):
        page = self.page_of(tune(figure="predicted time", on="lab:4x2", phase="use"))
        self.assertTrue(page.verdict.endswith("(predicted)."), page.verdict)
        self.assertIn("memory traffic", page.verdict)
        self.assertEqual(page.column(self.CAPTION, "median")[0], "1.73")  # relative: no bandwidth is known

    def test_a_higher_figure_is_better(self):
        page = self.page_of(tune(higher_is_better=True, figure="GFlop/s: (.*)"))
        self.assertIn("its figure is 25 % (17.65 to 33.33 %) higher", page.verdict)
        self.assertEqual(page.column(self.CAPTION, "setting")[0], "--bind spread")

    def test_every_verdict_is_a_sentence(self):
        for verdict, words in (
            ("equal", "Keep what you have: --bind close was ahead, but in fresh runs the two are equal."),
            ("keep", "Keep what you have: no other setting was clearly faster."),
            ("not separated", "the runs did not show a difference."),
            ("interrupted", "nothing is proved."),
            ("none", "no verdict"),
        ):
            self.assertIn(words, self.page_of(tune(verdict=verdict, chosen=0)).verdict)

    def test_hostile_names_stay_texts(self):
        document = tune(command=[HOSTILE], line=HOSTILE, figure=HOSTILE, remarks=[HOSTILE])
        for each in document["candidates"]:
            each |= {"setting": HOSTILE, "reason": HOSTILE, "others": [{"figure": HOSTILE, "median": 1}]}
        self.check_hostile(document)

    def test_a_damaged_file_is_refused(self):
        self.check_damage(tune())
        self.refused(tune(chosen=4), "chosen")
        self.refused(tune(candidates=[]), "candidates", "there is no setting")
        for field, value in (("median", "x"), ("figures", [1, "2"]), ("state", "asleep"), ("to_as_it_is", {"ratio": 0})):
            broken = tune()
            broken["candidates"][1] |= {field: value}
            self.refused(broken, f"candidates[1].{field}")

    def test_many_settings_make_a_page_that_has_a_bound(self):
        many = [candidate(f"--threads {i}", [1 + i / 1000] * 3) for i in range(10_000)]
        page = self.page_of(tune(candidates=many))
        self.assertEqual(len(page.column(self.CAPTION, "setting")), 50)
        self.assertIn("9940 more: see the table", page.texts["text"])


class Doctor(ReportTest):
    def test_facts_are_those_of_the_file_by_severity(self):
        page = self.page_of(doctor())
        self.assertEqual(page.verdict, "1 thing that nodewise needs is in the way, and there is 1 warning.")
        self.assertEqual(
            page.tables["In the way"][1], ["system calls", "mbind", "refused", "docker run --cap-add SYS_NICE"]
        )
        self.assertEqual(page.column("Warnings", "found"), ["1 (on)"])
        self.assertEqual(page.column("Good", "what"), ["page_size", "OMP_PROC_BIND"])
        self.assertEqual(page.column("Could not be examined", "what"), ["node 0"])
        self.assertIn("numa_balancing: sysctl kernel.numa_balancing=0 as root", page.texts["li"])

    def test_what_the_command_writes_is_read(self):
        document = json.loads(nodewise("doctor", "--json").stdout)
        page = self.page_of(document)
        facts = [each for key in ("calls", "findings", "state", "environment", "lab") for each in document[key]]
        shown = sum(len(rows) - 1 for caption, rows in page.tables.items() if caption in ("In the way", "Warnings", "Good"))
        unknown = len(page.tables.get("Could not be examined", [0])) - 1
        self.assertEqual(min(shown + unknown, 50), min(len(facts), 50))

    def test_a_machine_may_be_unavailable(self):
        self.assertNotIn("machine", self.page_of(doctor(machine="unavailable")).ids)

    def test_hostile_names_stay_texts(self):
        self.check_hostile(doctor(calls=[finding(HOSTILE, "bad", HOSTILE, cure=HOSTILE)] * 200))

    def test_a_damaged_file_is_refused(self):
        self.check_damage(doctor())
        self.refused(doctor(lab=[finding("kvm", "fine", "yes")]), "lab[0].verdict")
        self.refused(doctor(state=[{"name": "x", "verdict": "good"}]), "state[0]", "found")


class Pages(ReportTest):
    CAPTION = "Mappings, most in memory first"

    def test_bytes_are_those_of_the_file(self):
        document = pages()
        self.assertIsNone(conforms(document | {"settings": settings()}, "pages-1"))
        page = self.page_of(document)
        self.assertEqual(
            page.verdict,
            "4.02 MiB in memory of 7: ./solver: node 0 1.00 MiB, node 1 3.00 MiB, unknown 12.0 KiB; 25.0 % is on nodes "
            "where threads of its process ran last.",
        )
        self.assertEqual(page.column(self.CAPTION, "mapping"), ["grid.c:12", "(no name)"])
        self.assertEqual(page.column(self.CAPTION, "in memory"), ["4.00 MiB", "16.0 KiB"])
        self.assertEqual(page.column(self.CAPTION, "on")[0], "node 0 1.00 MiB, node 1 3.00 MiB")
        self.assertEqual(page.column("Bytes by node", "threads"), ["1 thread, last seen on node 0"])
        self.assertIn("grid.c:12 (anonymous), node 1: 3.00 MiB", page.texts["title"])

    def test_what_the_command_writes_is_read(self):
        document = self.expect_json(0, "pages", "-p", str(os.getpid()), "--json")
        areas = document["samples"][0]["processes"][0]["areas"]
        page = self.page_of(document)
        self.assertEqual(len(page.column(self.CAPTION, "mapping")), min(len(areas), 50))

    def test_samples_are_shown_with_their_times(self):
        document = pages()
        document["samples"].append(document["samples"][0] | {"time_s": 102.5})
        self.assertEqual(self.page_of(document).column("Bytes by node", "time"), ["0.000 s", "2.500 s"])
        self.assertEqual(self.page_of(pages(samples=[])).verdict, "No pages were observed.")

    def test_hostile_names_stay_texts(self):
        self.check_hostile(pages(process(1, area(HOSTILE, {0: 1}), command=HOSTILE, method=HOSTILE, notes=[HOSTILE])))

    def test_a_damaged_file_is_refused(self):
        self.check_damage(pages())
        for field, value in (("name", 3), ("local", "x"), ("unknown", -1), ("per_node", [{"node": -1, "pages": 1}])):
            self.refused(pages(process(1, area("a", {0: 1}) | {field: value})), f"processes[0].areas[0].{field}")

    def test_many_mappings_make_a_page_that_has_a_bound(self):
        page = self.page_of(pages(*(process(i + 1, *[area(f"a{k}", {k % 3: k}) for k in range(1000)]) for i in range(10))))
        self.assertEqual(len(page.column(self.CAPTION, "mapping")), 50)


class Prediction(ReportTest):
    def predicted(self, *options):
        return self.expect_json(0, "model", "-i", "lab:opteron-4x2", "--kernel", "triad", "--json", *options)

    def test_figures_are_those_of_the_file(self):
        document = self.predicted("--memory", "bind:0")
        answer = document["predicted"]
        page = self.page_of(document)
        self.assertIn("triad on 8 threads, memory bind:0: 405 ms (predicted)", page.verdict)
        self.assertIn(figure(answer["ratio_to_best"]) + " times as long as with the best placement", page.verdict)
        ratios = [figure(each["ratio_to_asked"]) for each in answer["alternatives"]]
        self.assertEqual(page.column("Times of placements", "ratio to the one asked for"), ["1", *ratios])
        capacities = [
            "unavailable" if isinstance(each["gb_per_s"], str) else figure(each["gb_per_s"]) + " GB/s"
            for each in answer["loads"]
        ]
        self.assertEqual(page.column("All that is used, what threads wait for most first", "capacity"), capacities)
        self.assertEqual(page.column("Figures of the machine", "source"), [each["source"] for each in document["inputs"]][:50])
        for remark in answer["remarks"]:
            self.assertIn(remark, page.texts["li"])

    def test_a_sweep_has_a_row_for_each_value(self):
        document = self.predicted("--sweep", "threads=1,2,4,8")
        page = self.page_of(document)
        self.assertIn("of 4 values of threads, 8 is the fastest", page.verdict)
        self.assertEqual(page.column("Times by threads", "threads"), ["1", "2", "4", "8"])
        self.assertEqual(
            page.column("Times by threads", "moved"),
            [figure(each["predicted"]["moved_gb_per_s"]) + " GB/s" for each in document["points"]],
        )

    def test_an_unknown_time_is_not_invented(self):
        document = self.expect_json(0, "model", "-i", "4x2", "--kernel", "copy", "--json")
        page = self.page_of(document)
        self.assertIn("the time is unavailable", page.verdict)
        self.assertEqual(set(page.column("Times of placements", "predicted time")), {"unavailable"})

    def test_hostile_names_stay_texts(self):
        document = self.predicted()
        document["question"] |= {"kernel": HOSTILE, "memory": HOSTILE, "schedule": HOSTILE}
        document["predicted"]["remarks"] = [HOSTILE]
        document["predicted"]["alternatives"][0]["name"] = HOSTILE
        document["inputs"][0] |= {"what": HOSTILE, "source": HOSTILE, "value": HOSTILE}
        self.check_hostile(document)

    def test_a_damaged_file_is_refused(self):
        document = self.predicted()
        self.check_damage(document)
        for field, value in (("seconds", "soon"), ("loads", [3]), ("bytes", -1), ("alternatives", {})):
            broken = copy.deepcopy(document)
            broken["predicted"][field] = value
            self.refused(broken, f"predicted.{field}")
        swept = self.predicted("--sweep", "threads=1,2")
        self.refused(swept | {"points": []}, "points")


class Comparison(ReportTest):
    CAPTION = "Arrays, largest first"

    def test_figures_are_those_of_the_file(self):
        document = comparison()
        self.assertIsNone(conforms(document | {"settings": settings()}, "comparison-1"))
        page = self.page_of(document)
        self.assertEqual(
            page.verdict,
            "70.0 % of the memory traffic was remote before, 10.0 % after; the predicted time of the memory traffic "
            "was 1.50 s, then 500 ms.",
        )
        self.assertEqual(page.column("Both profiles", "before"), ["70.0 %", "1.50 s"])
        self.assertEqual(page.column(self.CAPTION, "remote before"), ["75.0 %", "unavailable"])
        self.assertEqual(page.column(self.CAPTION, "remote after"), ["0 %", "absent"])
        self.assertEqual(page.column(self.CAPTION, "traffic before"), ["50.0 %", "50.0 %"])
        self.assertEqual(page.column(self.CAPTION, "traffic after"), ["100 %", "absent"])
        self.assertEqual(page.column(self.CAPTION, "pages after"), ["N0 50.0 %, N1 50.0 %", "absent"])
        self.assertIn("the commands differ", page.texts["li"])

    def test_findings_are_those_of_the_file(self):
        def one(array, before, after):
            return {"pattern": "few threads", "program": "solver", "arrays": array, "before": before, "after": after}

        found, missing = {"state": "found", "note": "up to 2.00 times"}, {"state": "unchecked", "note": "no uses"}
        document = comparison(findings=[one(["a", "b"], found, {"state": "absent"}), one([], missing, found)])
        self.assertIsNone(conforms(document | {"settings": settings()}, "comparison-1"))
        page = self.page_of(document)
        self.assertEqual(
            page.tables["What is gone, new and still there"][1:],
            [["few threads of a and b", "gone", "up to 2.00 times", "not found"],
             ["few threads", "found after, not checked before", "not checked: no uses", "up to 2.00 times"]],
        )
        self.refused(comparison(findings=[one(["a"], {"state": "lost"}, found)]), "findings[0].before.state")

    def test_unknown_shares_are_said_to_be_unknown(self):
        unknown = {"remote": "unavailable", "predicted_s": "unavailable"}
        page = self.page_of(comparison(before=unknown, after=unknown, sites=[]))
        self.assertIn("not known", page.verdict)
        self.assertEqual(page.column("Both profiles", "after"), ["unavailable", "unavailable"])

    def test_hostile_names_stay_texts(self):
        one = {"program": HOSTILE, "name": HOSTILE, "before": side(1, {0: 1}, touched_at=HOSTILE), "after": "absent"}
        self.check_hostile(comparison(sites=[one] * 100, doubts=[HOSTILE]))

    def test_a_damaged_file_is_refused(self):
        self.check_damage(comparison())
        for field, value in (("remote", []), ("bytes", 1.5), ("nodes", [{"node": "0", "share": 1}])):
            broken = comparison()
            broken["sites"][0]["after"][field] = value
            self.refused(broken, f"sites[0].after.{field}")


class Machine(ReportTest):
    def test_what_topo_writes_is_read(self):
        file = self.folder / "machine.json"
        self.expect(0, "topo", "-i", "lab:opteron-4x2", "-o", str(file))
        page = self.page_of(json.loads(file.read_text()))
        self.assertEqual(page.verdict, "opteron-4x2: 4 nodes with 8 cores")
        self.assertEqual(page.column("Nodes", "processors"), ["0-1", "2-3", "4-5", "6-7"])

    def test_what_a_process_may_not_use_is_marked(self):
        document = self.expect_json(0, "topo", "-i", "2x2", "--json")
        whole = self.page_of(document).texts["text"]
        part = self.page_of(document | {"allowed": {"cpus": "0-2", "nodes": "0-1"}}).texts["text"]
        self.assertEqual(("x3" in whole, "x3" in part, "x2" in part), (False, True, False))

    def test_a_damaged_file_is_refused(self):
        document = self.expect_json(0, "topo", "-i", "2x2", "--json")
        self.check_damage(document)
        self.refused(document | {"allowed": {"cpus": "9"}}, "allowed")


class SeveralFiles(ReportTest):
    def test_make_one_page(self):
        page = self.page_of(tune(), tune(), doctor(), pages(), comparison())
        self.assertIn("settings-2", page.ids)


if __name__ == "__main__":
    unittest.main()
