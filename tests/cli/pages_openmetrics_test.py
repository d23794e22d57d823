# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise pages --openmetrics`: read by the parser of the Prometheus client, and held against the JSON."""

import os
import re
import signal
import subprocess
import tempfile
from pathlib import Path
import unittest

from prometheus_client.openmetrics.parser import text_string_to_metric_families
from prometheus_client.parser import text_string_to_metric_families as older_families

from command import COMMAND, PATIENCE, CommandTest, conforms, environment
from pages_test import PYTHON, Target


def samples_of(text):
    """{(name, labels but pid and command): value}, and the families by name."""
    families = {family.name: family for family in text_string_to_metric_families(text)}
    found = {}
    for family in families.values():
        for sample in family.samples:
            labels = {name: value for name, value in sample.labels.items() if name not in ("pid", "command")}
            found[sample.name, tuple(sorted(labels.items()))] = sample.value
    return found, families


def of_node(values, name, **labels):
    """{node: value} of one metric."""
    wanted = set(labels.items())
    return {int(dict(key)["node"]): value for (metric, key), value in values.items()
            if metric == name and wanted <= set(key)}


class OpenMetrics(CommandTest):
    def held_against_json(self, *options):
        """The values, and the JSON of the same stopped process, which they equal."""
        with Target() as target:
            os.kill(target.process.pid, signal.SIGSTOP)
            text = self.expect(0, "pages", "--openmetrics", *options, target.pid).stdout
            document = self.expect_json(0, "pages", "--json", *options, target.pid)
        process = document["samples"][0]["processes"][0]
        values, families = samples_of(text)
        page = process["page_bytes"]

        def total(field):
            return sum(area[field] for area in process["areas"]) * page

        nodes = {node["id"]: 0 for node in document["machine"]["nodes"] if node["memory_bytes"]}
        for area in process["areas"]:
            for share in area["per_node"]:
                nodes[share["node"]] += share["pages"] * page
        self.assertEqual(of_node(values, "nodewise_process_memory_bytes"), nodes)
        self.assertEqual(values["nodewise_process_unknown_memory_bytes", ()], total("unknown"))
        self.assertEqual(values["nodewise_process_zero_page_bytes", ()], total("zero"))
        self.assertEqual(values["nodewise_process_mapped_bytes", ()], total("pages"))
        for category, by_node in process["totals"].items():
            self.assertEqual(of_node(values, "nodewise_process_category_bytes", category=category),
                             {one["node"]: one["bytes"] for one in by_node})
        threads = of_node(values, "nodewise_process_threads")
        self.assertEqual(sum(threads.values()) + values["nodewise_process_unknown_threads", ()], len(process["threads"]))
        self.assertEqual(of_node(values, "nodewise_node_memory_bytes"),
                         {node["id"]: node["memory_bytes"] for node in document["machine"]["nodes"] if node["memory_bytes"]})
        return values, families, process

    def test_the_numbers_are_those_of_the_json(self):
        values, families, process = self.held_against_json()
        everywhere = sum(of_node(values, "nodewise_process_memory_bytes").values())
        here = {str(thread["node"]) for thread in process["threads"]}
        near = sum(value for node, value in of_node(values, "nodewise_process_memory_bytes").items() if str(node) in here)
        self.assertEqual(values["nodewise_process_near_memory_bytes", (("threads", "all"),)], near)
        self.assertEqual(values["nodewise_process_far_memory_bytes", (("threads", "all"),)], everywhere - near)
        self.assertAlmostEqual(values["nodewise_process_near_ratio", (("threads", "all"),)], near / everywhere)
        self.assertNotIn("nodewise_process_moved_pages", families, "one sample is compared with none")
        for family in families.values():
            self.assertRegex(family.name, r"^nodewise_[a-z_]+$")
            self.assertRegex(family.documentation, r"^[A-Z].*[^.]\.$", family.name)

    def test_an_unknown_node_is_never_node_0(self):
        values, _, process = self.held_against_json("--method", "numa_maps")
        self.assertEqual(process["resolution"], "reduced")
        if process["counted_mappings"] == 0:
            self.assertGreater(values["nodewise_process_unknown_memory_bytes", ()], 0)
        self.assertEqual(values["nodewise_process_query", (("method", "numa_maps"), ("resolution", "reduced"))], 1)

    def test_hostile_names(self):
        names = [b'a"} 1\n# EOF\nx{b="', b"back\\slash\\", b"\xff\xfe", "ä".encode() * 200, b"{},=\t\x1b[2J\r"]
        for name in names:
            script = "import sys; print(1, flush=True); sys.stdin.read()"
            with self.subTest(name), subprocess.Popen([name, "-c", script], executable=PYTHON, stdin=subprocess.PIPE,
                                                      stdout=subprocess.PIPE) as process:
                process.stdout.readline()
                text = self.expect(0, "pages", "--openmetrics", str(process.pid)).stdout
                process.kill()
                families = list(text_string_to_metric_families(text))
                commands = {sample.labels["command"] for family in families for sample in family.samples
                            if "pid" in sample.labels}
                self.assertEqual(len(commands), 1)
                self.assertLessEqual(len(commands.pop().encode()), 4 * 120 + 3)
                self.assertEqual(text.count("\n# EOF"), 1)
                self.assertNotRegex(text, r"[\x00-\x09\x0b-\x1f]")

    def test_a_process_named_twice_is_one(self):
        with Target() as one, Target() as other:
            text = self.expect(0, "pages", "--openmetrics", "-p", one.pid, one.pid, other.pid).stdout
        memory = next(f for f in text_string_to_metric_families(text) if f.name == "nodewise_process_memory_bytes")
        self.assertEqual({sample.labels["pid"] for sample in memory.samples}, {one.pid, other.pid})
        self.assertEqual(len(memory.samples), len({tuple(sample.labels.items()) for sample in memory.samples}))

    def test_a_series_is_one_exposition_after_the_other(self):
        with Target() as target:
            os.kill(target.process.pid, signal.SIGSTOP)
            for option in ("--interval", "--watch"):
                text = self.expect(0, "pages", "--openmetrics", f"{option}=0.02", "--count", "3", target.pid).stdout
                parts = re.findall(r".*?^# EOF\n", text, re.MULTILINE | re.DOTALL)
                self.assertEqual((len(parts), "".join(parts)), (3, text))
                values = [samples_of(part)[0] for part in parts]
                self.assertEqual([one["nodewise_process_moved_pages_total", ()] for one in values], [0, 0, 0])
                times = [one["nodewise_sample_timestamp_seconds", ()] for one in values]
                self.assertEqual(times, sorted(set(times)))
            document = self.expect_json(0, "pages", "--json", "--interval=0.02", "--count=2", target.pid)
            self.assertIsNone(conforms(document, "pages-1"))
            self.assertEqual([one["processes"][0]["moved_pages"] for one in document["samples"]], [0, 0])

    def test_each_sample_replaces_the_file(self):
        """The end of the name chooses the form. The file always holds a whole exposition."""
        with Target() as target, tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "it.prom")
            times = set()
            command = [COMMAND, "pages", "--watch=0.02", "-o", file, target.pid]
            with subprocess.Popen(command, stdout=subprocess.DEVNULL, env=environment()) as watch:
                while len(times) < 3 and watch.poll() is None:
                    if file.exists():
                        times.add(samples_of(file.read_text())[0]["nodewise_sample_timestamp_seconds", ()])
                self.assertIsNone(watch.poll(), "it watches on")
                target.process.kill()
                target.process.wait()
                self.assertEqual(watch.wait(PATIENCE), 0)
            self.assertEqual([path.name for path in Path(folder).iterdir()], ["it.prom"], "nothing is left beside it")
            # The collector of node_exporter reads the older format, and refuses times.
            text = file.read_text()
            self.assertIn("nodewise_process_memory_bytes", {family.name for family in older_families(text)})
            self.assertTrue(all(sample.timestamp is None for family in older_families(text) for sample in family.samples))

    def test_a_program_just_before_it_ends(self):
        text = self.expect(0, "pages", "--openmetrics", "--", "true").stdout
        self.assertGreater(sum(of_node(samples_of(text)[0], "nodewise_process_memory_bytes").values()), 0)
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "it.prom")
            self.expect(0, "pages", "--openmetrics", "--at", "1000", "-o", file, "--", "true")
            self.assertEqual(file.read_text(), "# EOF\n", "nothing was sampled")

    def test_what_makes_no_sense(self):
        for arguments in (("--openmetrics", "--json", "1"), ("--openmetrics", "--totals", "1"),
                          ("--watch", "-o", "x.json", "1"), ("--watch", "--csv", "-o", "x.prom", "1")):
            with self.subTest(arguments):
                self.assertIn("hint:", self.expect(2, "pages", *arguments).stderr)


if __name__ == "__main__":
    unittest.main()
