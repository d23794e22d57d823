# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""topo: the same machine in every form, held against hwloc's own tools."""

import json
import os
import re
import subprocess
import tarfile
import tempfile
import unittest
from pathlib import Path

from command import ROOT, CommandTest, nodewise

DATA = os.path.join(os.path.dirname(__file__), "../data/topologies")


class Topo(CommandTest):
    def test_json_lists_every_node_also_disallowed_ones(self):
        with tempfile.TemporaryDirectory() as folder:
            with tarfile.open(os.path.join(DATA, "sysfs/32amd64-4s2n4c-cgroup2.tar.bz2")) as recorded:
                recorded.extractall(folder)
            root = os.path.join(folder, os.listdir(folder)[0])
            result = json.loads(self.expect(0, "topo", "--json", "-i", f"sysfs:{root}").stdout)
        self.assertEqual(result["schema"], "nodewise/topology/1")
        self.assertEqual(len(result["nodes"]), 8)
        self.assertEqual({node["allowed"] for node in result["nodes"]}, {True, False})

    def test_xml_is_read_by_hwloc(self):
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "machine.xml")
            self.expect(0, "topo", "--xml", "-i", "4x2", "-o", file)
            count = subprocess.run(["hwloc-calc", "-i", file, "--number-of", "pu", "machine:0"],
                                   capture_output=True, text=True, check=True).stdout
            self.assertEqual(count.strip(), "8")
            again = json.loads(self.expect(0, "topo", "--json", "-i", file).stdout)
            self.assertEqual(len(again["nodes"]), 4)

    def test_xml_of_this_machine_has_its_processors(self):
        text = self.expect(0, "topo", "--xml").stdout
        self.assertEqual(text.count('type="PU"'), os.cpu_count())

    def test_a_machine_file_has_no_xml_and_that_is_said(self):
        done = self.expect(2, "topo", "--xml", "-i", "lab:cxl")
        self.assertIn("use --json", done.stderr)
        self.assertIn("cannot be combined", self.expect(2, "topo", "--xml", "--json").stderr)

    def test_a_node_without_memory_is_not_called_not_allowed(self):
        # The kernel never lists such a node in Mems_allowed.
        machine = json.loads(self.expect(0, "topo", "--json", "-i", "lab:memoryless0").stdout)
        machine["allowed"]["nodes"] = "1"
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "machine.json")
            Path(file).write_text(json.dumps(machine))
            text = self.expect(0, "topo", "-i", file).stdout
            again = self.expect_json(0, "topo", "--json", "-i", file)
            machine["allowed"] = {"cpus": "0-3", "nodes": ""}
            Path(file).write_text(json.dumps(machine))
            refused = self.expect(0, "topo", "-i", file).stdout
        self.assertIn("no memory", text)
        self.assertIn("everything", text)
        self.assertNotIn("not allowed", text)
        self.assertEqual([node["allowed"] for node in again["nodes"]], [True, True])
        self.assertEqual(refused.count("x memory not allowed"), 1)
        self.assertIn("memory of 0 of 1 nodes (none)", refused)

    def test_control_characters_of_a_file_are_never_printed(self):
        bad = "\x1b]0;owned\x07\x1b[31mred\x9b2J\r\n\x7f\u202e"
        machine = json.loads(Path(ROOT / "lab/machines/cxl.json").read_text())
        machine |= {"name": "name" + bad, "title": "title" + bad, "source": "source" + bad, "notes": ["note" + bad]}
        machine["devices"] = [{"name": "dev" + bad, "kind": "gpu", "bus": "bus" + bad, "nodes": "0"}]
        machine["parameters"][0]["source"] = "by" + bad
        machine["parameters"].append(dict(machine["parameters"][0], name="latency", unit="ns" + bad))
        with tempfile.TemporaryDirectory() as folder:
            file = os.path.join(folder, "machine.json")
            Path(file).write_text(json.dumps(machine))
            xml = os.path.join(folder, "machine.xml")
            self.expect(0, "topo", "--xml", "-i", "2x2", "-o", xml)
            text = Path(xml).read_text()
            named = re.sub('<object type="Machine"([^>]*)>', '<object type="Machine"\\1><info name="HostName" value="h\x1b[31m\x9b2Ju"/>', text, count=1)
            self.assertNotEqual(named, text)
            Path(xml).write_text(named)
            commands = [("topo", "-i", file), ("topo", "-i", xml), ("doctor", "-i", file),
                        ("model", "--kernel", "triad", "-i", file), ("topo", "--json", "-i", file)]
            for command in commands:
                with self.subTest(command=command[:2]):
                    done = nodewise(*command)
                    for character in done.stdout + done.stderr:
                        # JSON is for programs: what only changes the direction of text is left in it.
                        harmless = character == "\n" or character.isprintable() or "--json" in command and character == "\u202e"
                        self.assertTrue(harmless, (command, ascii(character)))

    def test_a_machine_that_is_not_there_is_named(self):
        self.assertIn("there is no such file", self.expect(3, "topo", "-i", "nowhere.xml").stderr)
        self.assertIn("did you mean lab:nehalem-2x4", self.expect(2, "topo", "-i", "lab:nehalem-2x").stderr)


if __name__ == "__main__":
    unittest.main()
