# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise measure` on this machine, briefly and on small buffers: what it writes, and what it refuses.
No figure is held against a time."""

import json
import os
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import (
    COMMAND,
    PATIENCE,
    CommandTest,
    conforms,
    environment,
    handles,
    processor_seconds,
    wait_until,
)

BRIEF = ("--time", "0.01")
SMALL = ("--size", "4M")
MATRICES = ("--only", "bandwidth,latency")
ALLOWED = os.sched_getaffinity(0)


def interrupt_at_work(running):
    """Ctrl-C once something is measured. The first visit of a point takes half a second at most, of two
    processors at most here: who has used four has visited several, however long that took."""
    processors = len(ALLOWED)
    wait_until(lambda: handles(running, signal.SIGINT), "a handler of Ctrl-C")
    wait_until(lambda: processor_seconds(running) >= 2 * processors, "work")
    running.send_signal(signal.SIGINT)


class Measure(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.kept = self.folder / "state" / "nodewise"
        self.env = {"XDG_STATE_HOME": str(self.folder / "state")}

    def measured(self, *options, size=SMALL):
        result = self.expect_json(0, "measure", "--json", *BRIEF, *size, *options, env=self.env)
        self.assertIsNone(conforms(result, "measurement-1"))
        return result

    def assert_not_kept(self, reason, *options, **where):
        self.kept.mkdir(parents=True, exist_ok=True)
        kept = self.kept / f"measured-{os.uname().nodename}.json"
        kept.write_text("a good one")
        done = self.expect(0, "measure", *BRIEF, *options, env=self.env, **where)
        self.assertIn(reason, done.stdout)
        self.assertEqual(kept.read_text(), "a good one")

    def test_the_quick_set_is_written(self):
        result = self.measured()
        self.assertEqual((result["set"], result["planned"]), ("quick", len(result["points"])))
        found = {point["experiment"] for point in result["points"]}
        self.assertEqual(found, {"bandwidth", "latency", "contention", "kernels", "touch"})
        names = {parameter["name"] for parameter in result["machine"]["parameters"]}
        self.assertLessEqual({"bandwidth", "latency", "shared_bandwidth"}, names)

    def test_its_picture_has_the_figures_of_the_json(self):
        out = self.folder / "m.json"
        self.expect(0, "measure", *MATRICES, *BRIEF, *SMALL, "-o", str(out), env=self.env)
        picture = self.expect(0, "measure", str(out), "--svg", env=self.env).stdout
        for cost in json.loads(out.read_text())["machine"]["parameters"]:
            shown = f"memory of node {cost['to']}: {cost['value']:.4g} {cost['unit']}</title>"
            self.assertIn(f"processors of node {cost['from']}, {shown}", picture)

    def test_what_others_compute_with_is_kept_and_found_by_topo(self):
        out = self.folder / "out.json"
        done = self.expect(0, "measure", *MATRICES, *BRIEF, "--pages", "auto", "-o", str(out), env=self.env)
        if len(ALLOWED) < os.cpu_count():
            self.assertIn("Not saved: only processors", done.stdout)
            return
        if "all the memory that is available" in done.stdout:
            self.assertIn("Not saved: buffers of", done.stdout)
            self.assertFalse(self.kept.exists())
            self.skipTest("other programs leave too little memory for buffers larger than the caches")
        [kept] = self.kept.iterdir()
        self.assertIn(f"Saved in {kept}", done.stdout)
        self.assertEqual(kept.read_text(), out.read_text())
        drawn = self.expect(0, "topo", env=self.env).stdout
        self.assertIn("bandwidth (GB/s)", drawn)
        self.assertIn(f"measured {json.loads(out.read_text())['date']}", drawn)

    def test_what_is_not_whole_or_not_wanted_is_not_kept(self):
        for options in (("--only", "transfer"), ("-t", "load"), ("--no-keep",)):
            self.assertNotIn("aved", self.expect(0, "measure", *BRIEF, *SMALL, *options, env=self.env).stdout)
        self.assertFalse(self.kept.exists())
        for missing, other in (("latency", "bandwidth"), ("bandwidth", "latency")):
            self.assert_not_kept(f"Not saved: it has no {missing}.", "--only", other, *SMALL)

    def test_figures_that_are_unavailable_or_of_something_else_leave_the_kept_ones(self):
        self.assert_not_kept("Not saved: --size 4M is not the standard; write it with -o FILE", *MATRICES, *SMALL)
        self.assert_not_kept("Not saved: --pages base is not the standard", *MATRICES, "--pages", "base")
        one = min(ALLOWED)
        if os.cpu_count() > 1:
            only = f"Not saved: only processors {one} of "
            self.assert_not_kept(only, *MATRICES, before=["taskset", "-c", str(one)])
        if Path("/proc/sys/vm/nr_hugepages").read_text().strip() == "0":
            self.assert_not_kept(" -> node 0 is unavailable.", *MATRICES, "--pages", "2M")

    def test_every_kernel_is_measured_and_its_stores_counted(self):
        points = {point["label"]: point for point in self.measured("-t", "all")["points"]}
        self.assertLessEqual({"load", "sum", "store", "copy", "update", "scale", "add", "triad", "schoenauer"},
                             set(points))
        # A line that is stored to is read before, unless the loop has read it, or stores past the caches.
        self.assertEqual(points["load"]["moved_per_counted"], 1)
        self.assertAlmostEqual(points["copy"]["moved_per_counted"], 3 / 2)
        self.assertAlmostEqual(points["triad"]["moved_per_counted"], 4 / 3)
        self.assertEqual(points["update"]["moved_per_counted"], 1)
        if os.uname().machine == "x86_64":
            self.assertEqual(points["triad_nt"]["moved_per_counted"], 1)

    def test_a_kernel_of_two_names_is_one_figure(self):
        for words in (("-t", "triad,stream"), ("-t", "triad,triad"), ("-t", "stream", "-t", "triad")):
            points = self.measured(*words)["points"]
            self.assertEqual([point["label"] for point in points], ["triad"])
        labels = [point["label"] for point in self.measured("-t", "triad,all")["points"]]
        self.assertEqual(len(labels), len(set(labels)))
        [one] = self.measured("-t", "stream,triad", "-w", "N:1MB:1", size=())["points"]
        self.assertEqual(one["label"], "triad")

    def test_what_this_machine_cannot_do_is_said(self):
        one = ["taskset", "-c", str(min(os.sched_getaffinity(0)))]
        done = self.expect(2, "measure", "--only", "transfer", *BRIEF, *SMALL, env=self.env, before=one)
        self.assertIn("two cores", done.stderr)
        if Path("/proc/sys/vm/nr_hugepages").read_text().strip() == "0":
            points = self.measured("--only", "bandwidth", "--pages", "2M")["points"]
            self.assertTrue(all("median" not in point for point in points))
            self.assertIn("huge", points[0]["unavailable"])

    def test_a_workgroup_is_what_likwid_means(self):
        [point] = self.measured("-t", "triad", "-w", "N:6MB:1-0:M0", size=())["points"]
        self.assertEqual((point["label"], point["threads"], point["bytes"]), ("triad", 1, 6_000_000))

    def test_workgroups_on_one_processor_are_named(self):
        group = ("-w", "N:1MB:1")
        for words, said in ((group, ""), ((*group, *group), "have several threads")):
            done = self.expect(0, "measure", "-t", "load", *BRIEF, *words, env=self.env)
            self.assertIn(said, done.stderr)
            self.assertEqual("threads" in done.stderr, bool(said))
            self.assertIn("figures may show the caches", done.stderr)

    def test_what_moves_is_named_by_why_it_does(self):
        for kernels, title in (("copy", "with write-allocate"), ("copy,strided_load", "in whole lines")):
            self.assertIn(title, self.expect(0, "measure", "-t", kernels, *BRIEF, *SMALL, env=self.env).stdout)

    def write(self, name, result, samples):
        """The result with these samples for all of its figures."""
        for point in result["points"]:
            point["samples"] = samples
            point.pop("unavailable", None)
            point.pop("visits", None)
            point.update(stolen=0, others=0, elsewhere=0)
        file = self.folder / name
        file.write_text(json.dumps(result))
        return file

    def test_a_kept_result_is_shown_again_and_compared(self):
        result = self.measured()
        samples = [10, 10.1, 10.2, 10.3, 10.4, 10.5]
        one = self.write("one.json", result, samples)
        other = self.write("other.json", result, [2 * each for each in samples])
        self.assertIn("Bandwidth, GB/s", self.expect(0, "measure", str(one)).stdout)
        done = self.expect(0, "measure", "--compare", str(one), str(other)).stdout
        self.assertRegex(done, r"bandwidth +node 0 -> node 0 +10.2 GB/s +20.5 GB/s +2.00 +better")
        self.assertRegex(done, r"latency +node 0 -> node 0 +10.2 ns +20.5 ns +2.00 +worse")
        self.assertNotIn("other buffers", done)
        result["points"][0]["bytes"] += 64
        other.write_text(json.dumps(result))
        compared = self.expect(0, "measure", "--compare", str(one), str(other)).stdout
        self.assertIn("1 figure with other buffers or threads", compared)
        self.assertIn("other buffers or threads", compared.splitlines()[1])
        self.assertNotIn("Different things", compared)
        result["points"][0].update(bytes=result["points"][0]["bytes"] - 64, others=0.5, stolen=0)
        result["host"] = "elsewhere"
        other.write_text(json.dumps(result))
        compared = self.expect(0, "measure", "--compare", str(one), str(other)).stdout
        self.assertIn("1 figure with a difference, but one of the two was disturbed", compared)
        self.assertRegex(compared, "Different things were measured: .*; elsewhere, by")
        same = self.expect(0, "measure", "--compare", str(one), str(one)).stdout
        self.assertEqual(same, f"{len(result['points'])} figures without a change: the intervals overlap.\n")

    def test_of_few_visits_no_change_is_told_nor_that_there_is_none(self):
        result = self.measured("--only", "bandwidth,latency,contention")
        many, figures = [10, 10.1, 10.2, 10.3, 10.4, 10.5], len(result["points"])
        old = self.write("old.json", result, many)
        few = f"{figures} figures with too few visits to compare: --time gives more.\n"
        apart = self.expect(0, "measure", "--compare", str(old), str(self.write("a.json", result, [5, 5.1]))).stdout
        self.assertRegex(apart, r"bandwidth +node 0 -> node 0 +10.2 GB/s +5.05 GB/s +0.49 +too few visits")
        self.assertIn(few, apart)
        self.assertNotIn("did not change", apart)
        meets = self.expect(0, "measure", "--compare", str(old), str(self.write("b.json", result, [10.1, 10.2]))).stdout
        self.assertEqual(meets, few)

    def test_figures_of_any_size_are_shown(self):
        result = self.measured("--only", "bandwidth")
        huge, tiny = (self.write(f"{x}.json", result, [x] * 6) for x in (1e30, 1e-200))
        self.assertRegex(self.expect(0, "measure", str(huge)).stdout, r"-> node 0 +1e\+30 +1e\+30.{1,2}1e\+30\n")
        compared = self.expect(0, "measure", "--compare", str(tiny), str(huge)).stdout
        self.assertRegex(compared, r"node 0 -> node 0 +1e-200 GB/s +1e\+30 GB/s +1e\+230 +better\n")

    def test_remarks_name_their_figures(self):
        result = self.measured("--only", "bandwidth")
        [one] = (each for each in result["points"] if each["from"] == each["to"] == 0)
        ways = [(n, m) for n in range(8) for m in range(8)]
        refused = {"unavailable": "mbind: EPERM", "wrong": False}
        for many, says in (
            (1, "node 0 -> node 0: unavailable"),
            (2, "node 0 -> node 0, node 0 -> node 1: unavailable"),
            (5, "5 of 64 (node 0 -> node 0, node 0 -> node 1, node 0 -> node 2, ...): unavailable"),
            (64, "all: unavailable"),
        ):
            with self.subTest(many):
                result["points"] = [dict(one, **{"from": n, "to": m}, label=f"node {n} -> node {m}") for n, m in ways]
                result["planned"] = len(ways)
                self.write("m.json", result, [10] * 6)
                for point in result["points"][:many]:
                    point.pop("samples")
                    point.update(refused)
                file = self.folder / "m.json"
                file.write_text(json.dumps(result))
                self.assertIn(f"\n  {says}: mbind: EPERM\n", self.expect(0, "measure", str(file)).stdout)

    def test_contention_of_few_visits_is_no_verdict(self):
        result = self.measured("--only", "bandwidth,contention")
        own = next(each for each in result["points"] if each["experiment"] == "bandwidth" and each["from"] == each["to"])
        all_to = next(each for each in result["points"] if each["to"] == own["to"] and each["from"] == "any")
        all_to["threads"] = own["threads"] + 1  # as if there were processors of other nodes
        for many, says in ((6, "so its memory is the limit"), (5, "too few visits to find the limit")):
            file = self.write("m.json", result, [10] * many)
            all_to["samples"] = [5] * many
            file.write_text(json.dumps(result))
            shown = self.expect(0, "measure", str(file)).stdout
            self.assertIn(f"node {own['to']}: 0.50 times what its own cores draw, ", shown)
            self.assertIn(says, shown)

    def test_figures_of_either_measurement_alone_are_counted(self):
        more = self.measured("--only", "bandwidth,touch")
        some = [each for each in more["points"] if each["experiment"] == "bandwidth"]
        less = dict(more, points=some, planned=len(some))
        one, other = self.write("one.json", more, [10] * 6), self.write("other.json", less, [10] * 6)
        alone = f"{len(more['points']) - len(some)} figures in one measurement only."
        for files in ((one, other), (other, one)):
            self.assertIn(alone, self.expect(0, "measure", "--compare", *map(str, files)).stdout)

    def test_weights_are_lines_for_a_shell(self):
        kept = self.write("kept.json", self.measured("--only", "bandwidth"), [10] * 6)
        self.assertEqual(self.expect(0, "measure", "--weights", str(kept)).stdout.splitlines()[0],
                         "echo 1 > /sys/kernel/mm/mempolicy/weighted_interleave/node0")

    def test_weights_leave_the_rest_as_it_is(self):
        out = self.folder / "out.json"
        done = self.expect(0, "measure", *MATRICES, *BRIEF, *SMALL, "--weights", "-o", str(out), env=self.env)
        self.assertTrue(all(line.startswith("echo ") for line in done.stdout.splitlines()), done.stdout)
        for shown in ("Bandwidth, GB/s", "Latency, ns", "Not saved: --size 4M"):
            self.assertIn(shown, done.stderr)
        self.assertIsNone(conforms(json.loads(out.read_text()), "measurement-1"))

    def test_weights_are_not_set_by_what_is_unknown_wrong_or_of_another_machine(self):
        whole = self.measured("--only", "bandwidth,kernels")
        samples = [10] * 6
        self.write("whole.json", whole, samples)

        def changed(name, change):
            result = json.loads((self.folder / "whole.json").read_text())
            change(result)
            (self.folder / name).write_text(json.dumps(result))
            return str(self.folder / name)

        def lose(point, **why):
            del point["samples"]
            point.update(why)

        def add_a_node(result):
            result["machine"]["nodes"].append({"id": 99, "cpus": "", "memory_bytes": 0, "kind": "dram"})
            result["machine"].pop("distances", None)

        for file, status, says in (
            (changed("stopped.json", lambda r: r.update(stopped=True)), 3, "was stopped"),
            (changed("lacks.json", lambda r: lose(r["points"][0], unavailable="EPERM", wrong=False)), 3, "EPERM"),
            (changed("wrong.json", lambda r: lose(r["points"][-1], unavailable="a[17]", wrong=True)), 1, "a[17]"),
            (changed("other.json", add_a_node), 3, "describes a machine with nodes"),
        ):
            with self.subTest(file):
                done = self.expect(status, "measure", "--weights=apply", file)
                self.assertEqual(done.stdout, "")
                self.assertIn(f"--weights=apply of {file}: ", " ".join(done.stderr.split()))
                self.assertIn(says, done.stderr)
                self.assertIn("hint:", done.stderr)
                if "lacks" not in file:
                    printed = self.expect(0 if status == 3 else 1, "measure", "--weights", file)
                    self.assertIn("echo 1 > ", printed.stdout)
                    self.assertIn(says, printed.stderr)

    def test_ctrl_c_sets_no_weights(self):
        for form in ("--weights=apply", "--weights"):
            with subprocess.Popen(
                [COMMAND, "measure", form, "--full", "--size", "4M", "--time", "100"], text=True,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(**self.env),
            ) as running:  # fmt: skip
                interrupt_at_work(running)
                printed, errors = running.communicate(timeout=PATIENCE)
            self.assertEqual((running.returncode, printed), (130, ""))
            self.assertIn(f"{form}: the measurement was stopped", errors)
            self.assertIn("Bandwidth, GB/s", errors)

    def test_ctrl_c_keeps_what_is_measured(self):
        file = self.folder / "part.json"
        with subprocess.Popen(
            [COMMAND, "measure", "--full", "--size", "4M", "--time", "100", "-o", str(file)], text=True,
            stdout=subprocess.PIPE, env=environment(**self.env),
        ) as running:  # fmt: skip
            interrupt_at_work(running)
            printed = running.communicate(timeout=PATIENCE)[0]
        self.assertEqual(running.returncode, 130)
        result = json.loads(file.read_text())
        self.assertIsNone(conforms(result, "measurement-1"))
        self.assertGreaterEqual(len(result["points"]), 1)
        self.assertTrue(result["stopped"])
        some = f"{len(result['points'])} of {result['planned']} figures"
        self.assertIn(f"Stopped: {some if len(result['points']) < result['planned'] else 'all figures'}", printed)
        self.assertFalse(self.kept.exists())
        # Shown again, it ends as what shows it does.
        self.assertIn("Stopped: ", self.expect(0, "measure", str(file)).stdout)

    def test_nonsense_is_refused_before_anything_is_measured(self):
        for words, says in (
            (("--only", "guessing"), "use one of bandwidth, latency,"),
            (("--only", "latencie"), "did you mean latency?"),
            (("--size", "0"), "buffers cannot be empty"),
            (("-t", "copy", "-w", "N:1MB:1-2:M0"), "no array 2: copy has 2"),
            (("-t", "lod"), "did you mean load?"),
            (("-t", "stream_avx512"), "write stream"),
            (("-w", "S0:much"), "'much'"),
            (("-w", "N:1MB", "--full"), "--workgroup with --full"),
            (("--time", "soon"), "--time soon"),
            (("--size", "900000G"), "bandwidth: node"),
            (("-t", "load", "-w", "N:900000GB"), "kernels: load"),
            (("--compare",), "--compare"),
            (("-t", "triad", "--only", "latency"), "--test with --only"),
            (("--full", "a.json"), "--full with a.json"),
            (("--only", "latency", "a.json"), "--only with a.json"),
            (("-t", "load", "a.json"), "--test with a.json"),
            (("-w", "N:1MB", "a.json"), "--workgroup with a.json"),
            (("--size", "1G", "a.json"), "--size with a.json"),
            (("--pages", "auto", "a.json"), "--pages with a.json"),
            (("--time", "1", "--compare", "a.json", "b.json"), "--time with b.json"),
            (("--compare", "a.json", "--json"), "--compare with --json"),
            (("--compare", "a.json", "b.json", "-q"), "--compare with --quiet"),
            (("--weights", "--compare", "a.json"), "--weights with --compare"),
            (("--weights", "--json"), "--weights with --json"),
            (("--weights", "--quiet", "a.json"), "--weights with --quiet"),
            (("--weights", "--only", "latency"), "--weights with --only"),
            (("--weights", "-t", "triad"), "--weights with --test"),
            (("--weights=apply", "-w", "N:1MB"), "--weights with --workgroup"),
            (("a.json", "b.json"), "2 files"),
        ):
            with self.subTest(words):
                done = self.expect(2, "measure", *words, env=self.env)
                self.assertIn(says, done.stderr)
                self.assertEqual(done.stdout, "")
        broken = self.folder / "broken.json"
        broken.write_text('{"schema": "nodewise/measurement/1"}')
        self.assertIn("broken.json", self.expect(3, "measure", str(broken)).stderr)
        self.assertIn("nowhere.json", self.expect(3, "measure", "nowhere.json").stderr)


if __name__ == "__main__":
    unittest.main()
