# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What was measured, where it is used: topo, hwloc's XML, `run --memory weighted:auto`."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import CommandTest, conforms

DATA = Path(__file__).resolve().parents[1] / "data/topologies"
NOWHERE = "/nonexistent/measured.json"
BIG = [sys.executable, "-c", "b = bytearray(b'x') * (8 << 20); print(len(b))"]


def with_figures(machine, gb_s=lambda n, m: 20 + n + 2 * m):
    """The machine as a result of a measurement, with figures from all processors to all nodes."""
    machine = dict(machine, parameters=[])
    for n in machine["nodes"]:
        for m in machine["nodes"]:
            if n["cpus"]:
                pair = {"from": n["id"], "to": m["id"], "source": "measured in a test"}
                machine["parameters"] += [{"name": "bandwidth", "value": gb_s(n["id"], m["id"]), "unit": "GB/s", **pair},
                                          {"name": "latency", "value": 90 + n["id"], "unit": "ns", **pair}]
    return {"schema": "nodewise/measurement/1", "nodewise": "0.1.0", "machine": machine, "settings": {}}


class MeasuredTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def machine(self, *options):
        return self.expect_json(0, "topo", "--json", *options, env={"NODEWISE_MEASURED": NOWHERE})["machine"]

    def write(self, name, result):
        file = self.folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(result if isinstance(result, str) else json.dumps(result))
        return str(file)


class Topo(MeasuredTest):
    def test_this_machine_is_shown_with_what_was_measured_on_it(self):
        file = self.write("m.json", with_figures(self.machine()))
        env = {"NODEWISE_MEASURED": file}
        text = self.expect(0, "topo", env=env).stdout
        self.assertIn("bandwidth (GB/s)", text)
        self.assertIn("measured in a test", text)
        self.assertIn("costs       measured:", text)
        result = self.expect_json(0, "topo", "--json", env=env)
        self.assertIsNone(conforms(result, "topology-1"))
        self.assertIn("measured in a test", {figure["source"] for figure in result["machine"]["parameters"]})
        again = self.expect(0, "topo", "-i", file, env={"NODEWISE_MEASURED": NOWHERE}).stdout
        self.assertIn("latency (ns)", again)

    def test_without_a_measurement_that_is_said(self):
        text = self.expect(0, "topo", env={"NODEWISE_MEASURED": NOWHERE}).stdout
        self.assertIn(NOWHERE, text.replace("\n            ", ""))
        empty = {"NODEWISE_MEASURED": "", "XDG_STATE_HOME": str(self.folder), "HOME": str(self.folder)}
        if not os.path.exists("/etc/nodewise/measured.json"):
            self.assertIn("costs       not measured; nodewise measure", self.expect(0, "topo", env=empty).stdout)
        self.assertNotIn("nodewise measure", self.expect(0, "topo", "-i", "4x2").stdout)

    def test_the_users_own_file_is_found_by_the_hosts_name(self):
        name = f"nodewise/measured-{os.uname().nodename}.json"
        self.write(name, with_figures(self.machine()))
        env = {"NODEWISE_MEASURED": "", "XDG_STATE_HOME": str(self.folder)}
        self.assertIn("measured in a test", self.expect(0, "topo", env=env).stdout)

    def test_another_machines_is_not_used(self):
        other = with_figures(self.machine("-i", "16x2"))
        text = self.expect(0, "topo", env={"NODEWISE_MEASURED": self.write("m.json", other)}).stdout
        self.assertIn("m.json is not used: ", text)
        self.assertNotIn("measured in a test", text)

    def test_a_broken_file_is_named_and_the_machine_drawn(self):
        for text in ("", "{", '{"schema": "nodewise/measurement/1"}'):
            file = self.write("m.json", text)
            for options in ((), ("--json",), ("--xml",)):
                done = self.expect(0, "topo", *options, env={"NODEWISE_MEASURED": file})
                self.assertIn(file, done.stderr.replace("\n", ""))
                self.assertIn("nodewise measure", done.stderr)
                self.assertGreater(len(done.stdout.splitlines()), 5)

    def test_costs_of_a_recorded_machine_are_in_its_xml(self):
        recorded = str(DATA / "96em64t-4n4d3ca2co-pci.xml")
        costs = self.write("costs.json", with_figures(self.machine("-i", recorded)))
        text = self.expect(0, "topo", "-i", recorded, "--costs", costs).stdout
        self.assertIn("measured in a test", text)
        file = str(self.folder / "out.xml")
        self.expect(0, "topo", "-i", recorded, "--costs", costs, "--xml", "-o", file)
        tool = shutil.which("lstopo-no-graphics")
        self.assertIsNotNone(tool)
        printed = subprocess.run([tool, "--memattrs", "-i", file], capture_output=True, text=True, check=True).stdout
        nodes = len(self.machine("-i", recorded)["nodes"])
        bandwidths = printed.split("`Bandwidth'")[1].split("Memory attribute")[0]
        self.assertEqual(bandwidths.count("NUMANode L#"), nodes * nodes)
        # 20 GB/s from node 0 to node 0, in MiB/s.
        self.assertIn(f"NUMANode L#0 = {round(20e9 / (1 << 20))} from cpuset", bandwidths)

    def test_costs_of_another_machine_and_of_none_are_refused(self):
        costs = self.write("costs.json", with_figures(self.machine("-i", "2x2")))
        for form in ([], ["--xml"], ["--json"]):
            with self.subTest(form):
                self.assertIn("nodes 0-1", self.expect(3, "topo", "-i", "4x2", "--costs", costs, *form).stderr)
        self.expect(3, "topo", "-i", "4x2", "--costs", NOWHERE)
        self.assertIn("--costs", self.expect(2, "topo", "--xml", "-i", costs).stderr)


class Weighted(MeasuredTest):
    def test_the_measured_weights_are_taken_and_told(self):
        machine = self.machine()
        file = self.write("m.json", with_figures(machine))
        env = {"NODEWISE_MEASURED": file}
        done = self.expect(0, "run", "--memory", "weighted:auto", "--dry-run", "--", "true", env=env)
        self.assertIn(f"as measured: {file}", done.stdout)
        self.assertIn("default=cyclic@0@", done.stdout)
        out = str(self.folder / "run.json")
        done = self.expect(0, "run", "--memory", "weighted:auto", "--verify", "--json", "-o", out, "--", *BIG, env=env)
        self.assertIn(f"as measured: {file}", done.stderr)
        result = json.loads(Path(out).read_text())
        self.assertIsNone(conforms(result, "run-1"))
        self.assertEqual(result["asked"]["memory"]["placement"], "weighted")
        told = result["asked"]["memory"]["measured_weights"]
        self.assertEqual([each["file"] for each in told], [file])
        with_memory = [node["id"] for node in machine["nodes"] if node["memory_bytes"]]
        self.assertEqual([each["node"] for each in told[0]["per_node"]], with_memory)
        self.assertTrue(result["as_asked"])

    def test_of_a_rule(self):
        out = str(self.folder / "run.json")
        env = {"NODEWISE_MEASURED": self.write("m.json", with_figures(self.machine()))}
        self.expect(0, "run", "--rule", "size>=4M:weighted:auto:0", "--json", "-o", out, "--", *BIG, env=env)
        told = json.loads(Path(out).read_text())["asked"]["memory"]["measured_weights"]
        self.assertEqual([(each["rule"], each["per_node"]) for each in told], [(0, [{"node": 0, "weight": 1}])])

    def test_without_a_measurement_the_program_is_not_started(self):
        other = self.write("m.json", with_figures(self.machine("-i", "16x2")))
        broken = self.write("broken.json", "{")
        for file, answer in ((NOWHERE, "which does not exist"), (other, "m.json is not used: "), (broken, "not JSON")):
            with self.subTest(answer):
                done = self.expect(3, "run", "--memory", "weighted:auto", "--", "echo", "started",
                                   env={"NODEWISE_MEASURED": file})
                self.assertEqual(done.stdout, "")
                self.assertIn(answer, " ".join(done.stderr.split()))
                self.assertIn("nodewise measure", done.stderr)

    def test_the_kernels_policies_need_none(self):
        env = {"NODEWISE_MEASURED": self.write("broken.json", "{")}
        self.expect(0, "run", "--memory", "interleave", "--", "true", env=env)
        self.expect(0, "run", "--memory", "weighted:0=1", "--", "true", env=env)


class Model(MeasuredTest):
    def test_weights_by_the_machines_own_bandwidths(self):
        machine = with_figures(self.machine("-i", "2x2"), lambda n, m: 30 if m == 0 else 10)["machine"]
        file = self.write("m.json", machine)
        loop = ["model", "-i", file, "--kernel", "load", "--json"]
        by_measure = self.expect_json(0, *loop, "--memory", "weighted:auto")["predicted"]["seconds"]
        self.assertEqual(by_measure, self.expect_json(0, *loop, "--memory", "weighted:0=3,1=1")["predicted"]["seconds"])
        self.assertNotEqual(by_measure, self.expect_json(0, *loop, "--memory", "interleave")["predicted"]["seconds"])
        done = self.expect(2, "model", "-i", "2x2", "--kernel", "load", "--memory", "weighted:auto")
        self.assertIn("no bandwidth", done.stderr)


if __name__ == "__main__":
    unittest.main()
