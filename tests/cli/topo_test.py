# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""topo: the same machine in every form, held against hwloc's own tools."""

import json
import os
import subprocess
import tarfile
import tempfile
import unittest

from command import CommandTest

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
        self.assertIn("take --json", done.stderr)

    def test_a_machine_that_is_not_there_is_named(self):
        self.assertIn("there is no such file", self.expect(3, "topo", "-i", "nowhere.xml").stderr)
        self.assertIn("did you mean lab:nehalem-2x4", self.expect(2, "topo", "-i", "lab:nehalem-2x").stderr)


if __name__ == "__main__":
    unittest.main()
