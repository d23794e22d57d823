# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""model: predictions of loops and of counted traffic, held against published figures and against
arithmetic that fits in a line."""

import json
import tempfile
import unittest
from pathlib import Path

from command import CommandTest, conforms
from traffic_test import Counted

# Schmidl and Terboven: STREAM triad, 12 threads, all pages on one node against parallel first touch.
SERIAL_TRIAD_GB_S, LOCAL_TRIAD_GB_S = 18.2, 40.4
WESTMERE = ("--input", "lab:westmere-2x6", "--kernel", "triad", "--elements", "2^26")


class ModelTest(CommandTest):
    def predicted(self, *arguments):
        """The answer of a valid result."""
        result = self.expect_json(0, "model", "--json", *arguments)
        self.assertIsNone(conforms(result, "prediction-2"))
        return result["predicted"]

    def seconds(self, *arguments):
        return self.predicted(*arguments)["seconds"]

    def refused(self, *arguments, code=2, says, cure=""):
        done = self.expect(code, "model", *arguments)
        self.assertEqual(done.stdout, "")
        self.assertIn(says, done.stderr)
        self.assertIn(cure, done.stderr.partition("hint: ")[2])


class Loops(ModelTest):
    def test_serial_initialisation_costs_two_nodes_half_their_bandwidth(self):
        answer = self.predicted(*WESTMERE, "--memory", "serial")
        self.assertAlmostEqual(answer["ratio_to_best"], 2)
        # Three arrays of 8 bytes, and the line of the first that is read to be written.
        self.assertEqual(answer["bytes"], 2**26 * 8 * 4)
        self.assertEqual(answer["useful_bytes"], 2**26 * 8 * 3)
        self.assertAlmostEqual(answer["seconds"], 2**26 * 32 / 20.2e9)
        self.assertAlmostEqual(answer["gb_per_s"], answer["moved_gb_per_s"] * 3 / 4)
        text = self.expect(0, "model", *WESTMERE, "--memory", "serial").stdout
        self.assertIn("2.00 times the best placement", text)

    def test_a_placement_has_one_time_whoever_names_it(self):
        loop = ("--input", "lab:opteron-4x2", "--kernel", "triad", "--memory", "interleave", "--elements", "2^24")
        for schedule in ("static", "static,64", "static,4096", "dynamic,512", "tasks,512", "guided"):
            with self.subTest(schedule=schedule):
                answer = self.predicted(*loop, "--schedule", schedule)
                same = next(one for one in answer["alternatives"] if one["name"] == "in turn over all nodes")
                self.assertAlmostEqual(same["seconds"] / answer["seconds"], 1)

    def test_a_figure_is_told_with_the_origin_of_what_binds(self):
        answer = self.predicted("--input", "lab:aloe-2x16", "--kernel", "triad", "--memory", "serial")
        memory = next(one for one in answer["sensitivities"] if one["what"] == "memory bandwidth")
        self.assertEqual((memory["origin"], memory["source"]), ("published", "TBB20"))

    def test_machines_with_nodes_without_memory_or_processors(self):
        bandwidth = ("--set", "bandwidth=20", "--set", "core_bandwidth=8")
        for machine in ("memoryless0", "gap", "cxl"):
            for memory in ("local", "serial", "interleave", "weighted:auto", "blocked", "rows:12000",
                           "cyclic:64K", "bind:1"):
                for schedule in ("static", "static,64", "dynamic,512", "guided"):
                    with self.subTest(machine=machine, memory=memory, schedule=schedule):
                        answer = self.predicted("-i", f"lab:{machine}", "--kernel", "triad", "--elements", "2^20",
                                                "--memory", memory, "--schedule", schedule, *bandwidth)
                        self.assertGreater(answer["seconds"], 0)
                        self.assertEqual(len(answer["alternatives"]), 3)
        # All of memoryless0's memory is on one node: there is one placement.
        answer = self.predicted("-i", "lab:memoryless0", "--kernel", "triad", "--elements", "2^20", *bandwidth)
        self.assertAlmostEqual(answer["ratio_to_best"], 1)

    def test_links_are_named_as_their_parameters_are(self):
        loop = ("--input", "lab:opteron-4x2", "--kernel", "load", "--memory", "serial", "--set", "link_bandwidth:1:0=1")
        loads = self.predicted(*loop)["loads"]
        narrow = [(one["from"], one["to"]) for one in loads if one["kind"] == "link" and one["gb_per_s"] == 1]
        self.assertEqual(narrow, [(1, 0)])
        self.assertIn("link 1:0", self.expect(0, "model", *loop).stdout)

    def test_arrays_that_fit_into_caches_get_a_remark(self):
        small = self.predicted("--input", "lab:westmere-2x6", "--kernel", "triad", "--elements", "1000")
        self.assertTrue(any("fit into the machine's caches" in remark for remark in small["remarks"]))
        large = self.predicted(*WESTMERE)
        self.assertFalse(any("caches" in remark for remark in large["remarks"]))

    def test_with_the_efficiency_that_fits_it_is_what_was_published(self):
        answer = self.predicted(*WESTMERE, "--memory", "serial", "--set", "shared_efficiency=0.91")
        self.assertAlmostEqual(answer["ratio_to_best"], LOCAL_TRIAD_GB_S / SERIAL_TRIAD_GB_S, delta=0.03)
        self.assertAlmostEqual(answer["moved_gb_per_s"], SERIAL_TRIAD_GB_S, delta=0.3)

    def test_first_touch_by_the_loop_is_the_best_and_serial_binds_one_memory(self):
        self.assertAlmostEqual(self.predicted(*WESTMERE)["ratio_to_best"], 1, places=3)
        loads = self.predicted(*WESTMERE, "--memory", "serial")["loads"]
        self.assertEqual((loads[0]["kind"], loads[0]["node"]), ("memory", 0))
        self.assertAlmostEqual(loads[0]["busy"], 1)
        self.assertAlmostEqual(loads[0]["bound"], 1)
        self.assertEqual([load for load in loads if load["kind"] == "memory" and load["node"] == 1], [])

    def test_every_word_of_memory_says_where_the_bytes_are(self):
        grid = ("--input", "4x2", "--kernel", "load", "--set", "bandwidth=1")
        whole = 2**26 * 8 / 1e9  # of one memory
        # bind:0,3: as far from both, the kernel takes the next node behind the thread's own.
        for memory, share in (("serial", 1), ("local", 1 / 4), ("blocked", 1 / 4), ("bind:2", 1), ("prefer:1", 1),
                              ("bind:0,3", 3 / 4), ("interleave", 1 / 4), ("interleave:1-2", 1 / 2),
                              ("weighted:0=3,1=1", 3 / 4), ("cyclic:64K", 1 / 4), ("cyclic:4K:0-2", 1 / 3)):
            with self.subTest(memory):
                answer = self.predicted(*grid, "--memory", memory)
                self.assertAlmostEqual(answer["seconds"], whole * share, delta=whole * 1e-3)

    def test_arrays_by_letters_are_the_kernel_of_that_name(self):
        for name, letters in (("triad", "w,r,r"), ("daxpy", "rw,r"), ("load", "r")):
            on = ("--input", "lab:yuca-4x8", "--memory", "interleave", "--kernel")
            self.assertEqual(self.predicted(*on, name), self.predicted(*on, letters))
        self.assertEqual(self.predicted("-i", "2x2", "--kernel", "n,r,r")["bytes"], 2**26 * 8 * 3)

    def test_a_count_of_elements_is_written_in_three_ways(self):
        texts = {self.expect(0, "model", "-i", "lab:cxl", "--kernel", "copy", "--elements", n).stdout
                 for n in ("1048576", "2^20", "1.048576e6")}
        self.assertEqual(len(texts), 1)

    def test_threads_are_bound_as_run_binds_them(self):
        def nodes(*arguments):
            result = self.expect_json(0, "model", "--json", "-i", "4x4x2", "--kernel", "load", *arguments)
            return result["question"]["threads"], result["question"]["nodes"]

        self.assertEqual(nodes(), (16, "0-3"))
        self.assertEqual(nodes("--smt", "on"), (32, "0-3"))
        self.assertEqual(nodes("--threads", "6", "--bind", "close"), (6, "0-1"))
        self.assertEqual(nodes("--threads", "2", "--bind", "spread"), (2, "0,2"))
        self.assertEqual(nodes("-N", "1,3"), (8, "1,3"))
        self.assertEqual(nodes("-C", "8-15"), (4, "1"))
        self.assertEqual(nodes("-C", "8-15", "-N", "2"), (4, "2"))

    def test_what_does_not_fit_goes_to_the_nearest(self):
        arguments = ("-i", "lab:opteron-4x2", "--kernel", "load", "--memory", "serial", "--free", "0=128MiB")
        result = self.expect_json(0, "model", "--json", *arguments)
        busy = {load["node"]: load["busy"] for load in result["predicted"]["loads"] if load["kind"] == "memory"}
        self.assertEqual(set(busy), {0, 1})  # a quarter of 512 MiB and the rest
        self.assertAlmostEqual(busy[0] / busy[1], 1 / 3)
        self.assertIn("384 MiB for node 0 are on the nearest nodes with room: it is full",
                      " ".join(result["predicted"]["remarks"]))
        self.refused("-i", "2x2", "--kernel", "load", "--memory", "bind:0", "--free", "0=128MiB", code=3,
                     says="the nodes have room for 128 MiB", cure="--free")

    def test_without_a_bandwidth_only_ratios_are_told(self):
        result = self.expect_json(0, "model", "--json", "-i", "4x2", "--kernel", "load", "--memory", "serial")
        self.assertIsNone(conforms(result, "prediction-2"))
        answer = result["predicted"]
        self.assertEqual((answer["seconds"], answer["gb_per_s"]), ("unavailable", "unavailable"))
        self.assertAlmostEqual(answer["ratio_to_best"], 4)
        self.assertIn("time: unavailable", self.expect(0, "model", "-i", "4x2", "--kernel", "triad").stdout)

    def test_chunks_in_turn_meet_the_pages_that_they_touched_first(self):
        for chunk in (512, 4096, 1000):  # elements; pages of 512
            schedule = ("--schedule", f"static,{chunk}", "--chunk-start", "0")
            own = self.seconds("-i", "4x2", "--set", "bandwidth=10", "--kernel", "load", *schedule)
            best = self.seconds("-i", "4x2", "--set", "bandwidth=10", "--kernel", "load")
            self.assertAlmostEqual(own / best, 1, delta=0.5 if chunk == 1000 else 0.1)

    def test_every_shape_of_loop_has_an_answer(self):
        for words in (["--shape", "triangular"], ["--shape", "triangular", "--schedule", "even"],
                      ["--schedule", "dynamic,64"], ["--schedule", "guided"], ["--schedule", "tasks,512"],
                      ["--schedule", "static,8", "--memory", "interleave", "--stagger"], ["--random"],
                      ["--page-size", "2MiB", "--memory", "cyclic:2MiB"], ["--element-bytes", "4"],
                      ["--limit", "processors"], ["--elements", "1", "--threads", "3"],
                      ["--threads", "40"], ["--chunk-start", "120", "--schedule", "dynamic"]):
            with self.subTest(words):
                self.assertGreater(self.seconds("-i", "lab:hbm-ddr", "--kernel", "triad", *words), 0)

    def test_figures_are_told_with_their_origin(self):
        result = self.expect_json(0, "model", "--json", *WESTMERE, "--set", "core_bandwidth:1=7")
        said = {(one["what"], one["of"]): (one["value"], one["origin"]) for one in result["inputs"]}
        self.assertEqual(said["memory bandwidth", "node 0"], (20.2, "published"))
        self.assertEqual(said["bandwidth of a core", "node 1"], (7, "given"))
        self.assertEqual(said["bandwidth of a core", "node 0"], (7, "assumed"))
        own = [one for one in result["machine"]["parameters"] if one["source"] == "given by --set"]
        self.assertEqual([(one["name"], one["from"], one["to"]) for one in own], [("core_bandwidth", 1, 1)])
        rows = {row["what"]: row for row in result["predicted"]["sensitivities"]}
        self.assertAlmostEqual(rows["memory bandwidth"]["less"], 1 / 0.9 - 1, places=3)
        self.assertEqual(rows["bandwidth of a core"]["origin"], "assumed")

    def test_a_figure_that_is_set_replaces_the_files_own(self):
        twice = self.seconds(*WESTMERE, "--set", "bandwidth=40.4")
        self.assertAlmostEqual(twice * 2, self.seconds(*WESTMERE))
        result = self.expect_json(0, "model", "--json", *WESTMERE, "--set", "bandwidth:1=40.4")
        of_node_1 = [one for one in result["machine"]["parameters"] if one["to"] == 1]
        self.assertEqual([one["value"] for one in of_node_1], [40.4])

    def test_this_machine_has_an_answer(self):
        self.assertIn("Predicted time of copy", self.expect(0, "model", "--kernel", "copy").stdout)


class Sweeps(ModelTest):
    def sweep(self, *arguments):
        result = self.expect_json(0, "model", "--json", *arguments)
        self.assertIsNone(conforms(result, "prediction-2"))
        return {point["value"]: point["predicted"] for point in result["points"]}

    def test_threads_help_until_the_memory_is_full(self):
        points = self.sweep("-i", "1x8", "--kernel", "load", "--set", "bandwidth=10", "--set", "core_bandwidth=4",
                            "--sweep", "threads=1,2,4,8")
        self.assertEqual([round(one["gb_per_s"], 6) for one in points.values()], [4, 8, 10, 10])

    def test_what_is_swept_has_no_other_value(self):
        self.refused(*WESTMERE, "--sweep", "memory=local", "--memory", "serial", says="--memory has one value")
        self.refused(*WESTMERE, "--sweep", "threads=1,2", "--threads", "4", says="--threads has one value")
        self.refused(*WESTMERE, "--sweep", "chunk=1,abc", says="chunk", cure="--sweep chunk=")

    def test_a_placement_may_have_commas(self):
        points = self.sweep("-i", "4x2", "--kernel", "load", "--sweep",
                            "memory=serial,bind:0,1,interleave:0,2,weighted:0=3,1=1,local")
        self.assertEqual(list(points), ["serial", "bind:0,1", "interleave:0,2", "weighted:0=3,1=1", "local"])
        self.assertEqual(self.predicted("-i", "4x2", "--kernel", "load", "--memory", "bind:0,1"), points["bind:0,1"])

    def test_what_is_swept_is_in_no_question(self):
        for sweep, word in (("threads=1,2", "threads"), ("memory=local", "memory")):
            result = self.expect_json(0, "model", "--json", "-i", "2x2", "--kernel", "load", "--sweep", sweep)
            self.assertNotIn(word, result["question"])

    def test_the_table_has_a_bar_for_each(self):
        text = self.expect(0, "model", "-i", "lab:yuca-4x8", "--kernel", "copy",
                           "--sweep", "memory=serial,interleave").stdout
        self.assertRegex(text, r"\n  serial +196 ms  #{12} .* 4\.00 x  memory of node 0\n")
        self.assertRegex(text, r"\n  interleave +49\.0 ms  #{3}\.{9} ")
        self.expect(0, "model", "-i", "2x2", "--kernel", "load", "--schedule", "dynamic", "--sweep", "chunk=1,512")


class Errors(ModelTest):
    def test_each_names_its_option_and_a_cure(self):
        for words, says, cure in (
            (["--kernel", "traid"], "--kernel traid", "did you mean triad?"),
            (["--kernel", "load", "--elements", "1.5"], "--elements 1.5", "2^26"),
            (["--kernel", "load", "--elements", "2^99"], "--elements 2^99", "2^26"),
            (["--kernel", "load", "--set", "bandwith=1"], "--set bandwith=1", "did you mean bandwidth?"),
            (["--kernel", "load", "--set", "latency:7=80"], "no node '7'", "0-1"),
            (["--kernel", "load", "--set", "latency=-1"], "not a number above 0", "latency:0:1=120"),
            (["--kernel", "load", "--set", "latency:0:1:1=9"], "too many colons", "latency:0:1=120"),
            (["--kernel", "load", "--set", "shared_efficiency=2"], "it is a share", "0.91"),
            (["--kernel", "load", "--set", "link_bandwidth=2"], "between two nodes", "link_bandwidth:0:1"),
            (["--kernel", "load", "--memory", "interlave"], "--memory interlave", "serial"),
            (["--kernel", "load", "--memory", "bind:7"], "no node 7", "0-1"),
            (["--kernel", "load", "--memory", "weighted:0=0"], "all weights are 0", "weighted:0=3,1=1"),
            (["--kernel", "load", "-N", "5"], "--cpunodebind: node 5", "0-1"),
            (["--kernel", "load", "--bind", "none"], "--bind none", "--bind close"),
            (["--kernel", "load", "--schedule", "even,4"], "--schedule even,4", "even"),
            (["--kernel", "load", "--schedule", "auto"], "--schedule auto", "dynamic"),
            (["--kernel", "load", "--schedule", "static,0"], "--schedule static,0", "dynamic,64"),
            (["--kernel", "load", "--chunk-start", "x"], "--chunk-start x", "100"),
            (["--kernel", "load", "--free", "0"], "--free 0", "0=1GiB"),
            (["--kernel", "load", "--page-size", "4"], "--page-size 4", "4KiB"),
            (["--kernel", "load", "--sweep", "cores=1"], "--sweep cores=1", "threads=1,2,4"),
            (["--kernel", "load", "--sweep", "threads=0"], "--sweep threads=0", "threads=1,2,4"),
            (["--kernel", "load", "--phase", "use"], "--phase with --kernel", "leave one"),
            (["--kernel", "load", "a.json"], "exclude each other", "--kernel triad"),
            ([], "nothing to predict", "--on-counts"),
            (["a.json", "b.json"], "one traffic file", "--on-counts"),
            (["a.json", "--threads", "2"], "--threads with a traffic file", "--kernel"),
        ):
            with self.subTest(words):
                self.refused("--input", "2x2", *words, says=says, cure=cure)

    def test_files_that_are_none(self):
        self.refused("nowhere.json", code=3, says="ENOENT", cure="name")
        with tempfile.TemporaryDirectory() as folder:
            for text in ("{}", "[1", '{"schema": "nodewise/run/1"}', '{"schema": "nodewise/traffic/2"}'):
                file = Path(folder) / "t.json"
                file.write_text(text)
                self.refused(str(file), code=3, says="t.json")

    def test_a_machine_without_any_limit(self):
        self.refused("-i", "lab:cxl", "--kernel", "load", "--limit", "processors", "--set", "bandwidth=nan",
                     says="not a number")


class Traffic(ModelTest, Counted):
    def count(self, counts="first-touch-4x2", machine="4x2"):
        """The file of a counted run."""
        self.go(0, "run", "--on", f"lab:{machine}", "-q", "--on-counts", "t.json", "--", "./a", counts=counts)
        return str(self.folder / "t.json")

    def test_bytes_are_those_of_the_cells(self):
        file = self.count()
        cells = json.loads(Path(file).read_text())["matrix"]
        for when in ("use", "init", "all"):
            lines = sum(cell["fills"] + cell["write_backs"] + cell["streams"] + cell["dirty"]
                        for cell in cells if when in (cell["phase"], "all"))
            answer = self.predicted(file, "--phase", when, "--set", "bandwidth=10")
            self.assertEqual(answer["bytes"], lines * 64)
            self.assertAlmostEqual(answer["seconds"], lines * 64 / 10e9)  # all on node 0
        self.assertEqual(self.predicted(file), self.predicted(file, "--phase", "use"))

    def test_all_on_one_of_four_nodes_takes_four_times_as_long(self):
        text = self.expect(0, "model", self.count()).stdout
        self.assertIn("4.00 times the best placement", text)
        self.assertIn("still dirty in the caches", text)

    def test_a_region_is_shared_by_the_processors_of_its_nodes(self):
        file = self.count()
        regions = json.loads(Path(file).read_text())["regions"]
        answer = self.predicted(file, "--region", "triad")
        self.assertEqual(answer["bytes"], sum(one["bytes"] for one in regions))
        self.refused(file, "--region", "triade", says="--region triade", cure="triad")
        self.refused(file, "--region", "triad", "--phase", "use", says="--region with --phase")

    def test_on_another_machine(self):
        file = self.count()
        self.assertIsInstance(self.seconds(file, "--input", "lab:opteron-4x2", "--set", "bandwidth=6"), float)
        self.refused(file, "--input", "2x2", code=3, says="core 1 of node 2 is not on the machine", cure="--input")

    def test_on_a_machine_with_other_numbers_processors_stay_on_their_nodes(self):
        file = self.count()
        here = self.predicted(file, "--set", "bandwidth=6")
        there = self.predicted(file, "--input", "4x4", "--set", "bandwidth=6")
        self.assertAlmostEqual(there["ratio_to_best"], here["ratio_to_best"])
        self.assertTrue(any("counted on another machine" in remark for remark in there["remarks"]))
        self.assertFalse(any("counted on another machine" in remark for remark in here["remarks"]))

    def test_pooled_work_ends_together(self):
        file = Path(self.count())
        result = json.loads(file.read_text())
        cell = {"from": 0, "to": 0, "phase": "use", "write_backs": 0, "streams": 0, "dirty": 0, "bytes": 0}
        result["matrix"] = [cell | {"cpu": 0, "fills": 3 * 10**7}, cell | {"cpu": 1, "fills": 10**7}]
        file.write_text(json.dumps(result))
        limits = (str(file), "--set", "core_bandwidth=1", "--set", "bandwidth=8")
        self.assertAlmostEqual(self.seconds(*limits), 3e7 * 64 / 1e9)
        self.assertAlmostEqual(self.seconds(*limits, "--schedule", "dynamic"), 4e7 * 64 / 2e9)

    def test_lines_of_unknown_memory_are_left_out_and_told(self):
        file = Path(self.count())
        result = json.loads(file.read_text())
        result["matrix"][1]["to"] = "unknown"
        lost = sum(result["matrix"][1][part] for part in ("fills", "write_backs", "streams", "dirty"))
        file.write_text(json.dumps(result))
        answer = self.expect_json(0, "model", "--json", str(file))
        self.assertEqual(answer["question"]["unknown_lines"], lost)
        self.assertIn("left out", " ".join(answer["predicted"]["remarks"]))

    def test_a_damaged_file_is_refused_by_its_field(self):
        file = Path(self.count())
        for path, value in ((("matrix", 0, "fills"), -1), (("matrix", 0, "to"), "far"), (("matrix", 0, "cpu"), -2),
                            (("matrix", 2, "phase"), "both"), (("model", "line_bytes"), 0), (("judged_by",), 1),
                            (("regions", 0, "name"), 7), (("machine", "nodes"), [])):
            with self.subTest(path):
                result = json.loads(file.read_text())
                part = result
                for key in path[:-1]:
                    part = part[key]
                part[path[-1]] = value
                (self.folder / "bad.json").write_text(json.dumps(result))
                self.refused(str(self.folder / "bad.json"), code=3, says=path[-1])

    def test_nothing_to_price(self):
        self.refused(self.count("nothing-2x2", "2x2"), code=3, says="no line was moved", cure="--phase all")

    def test_a_counted_run_tells_the_time_of_its_regions(self):
        done = self.go(0, "run", "--on", "lab:yuca-4x8", "--on-counts", "t.json", "--", "./a")
        self.assertRegex(done.stderr, r"Predicted time by region, by the model, not measured\n.*\n  triad +32\.2 ms ")
        predicted = json.loads((self.folder / "t.json").read_text())["predicted"]
        again = self.predicted(str(self.folder / "t.json"), "--region", "triad")
        self.assertEqual([one["region"] for one in predicted], ["triad"])
        self.assertEqual(predicted[0]["seconds"], again["seconds"])
        self.assertEqual(predicted[0]["ratio_to_best"], again["ratio_to_best"])

    def test_without_regions_it_tells_that_of_the_phase(self):
        done = self.go(0, "run", "--on", "lab:2x2", "--", "./a", counts="many-objects-2x2")
        self.assertIn("Predicted time of use by the model, not measured\n  1.96 times the best", done.stderr)
        nothing = self.go(0, "run", "--on", "lab:2x2", "--", "./a", counts="nothing-2x2")
        self.assertNotIn("Predicted", nothing.stderr)


if __name__ == "__main__":
    unittest.main()
