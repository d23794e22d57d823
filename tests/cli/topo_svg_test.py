# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise topo --svg`: a picture that any program for SVG opens, with the figures of the JSON."""

import json
import re
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from command import ROOT, CommandTest

SVG = "{http://www.w3.org/2000/svg}"
MACHINES = sorted(path.stem for path in (ROOT / "lab/machines").glob("*.json"))


def texts(picture, kind):
    return [each.text or "" for each in picture.iter(SVG + kind)]


class Picture(CommandTest):
    def picture(self, *arguments):
        return ElementTree.fromstring(self.expect(0, "topo", "--svg", *arguments).stdout)

    def test_every_machine_of_the_lab_with_all_its_figures(self):
        for name in MACHINES:
            with self.subTest(name):
                machine = self.expect_json(0, "topo", "--json", "-i", f"lab:{name}")["machine"]
                words = texts(self.picture("-i", f"lab:{name}"), "title")
                self.assertEqual(words[0], machine["name"])
                for node in machine["nodes"]:
                    self.assertTrue(any(re.match(rf"(x )?node (L#\d+ )?P#{node['id']}:", each) for each in words))
                for cost in machine.get("parameters", []):
                    shown = f"memory of node {cost['to']}: {cost['value']:.4g} {cost['unit']}"
                    self.assertIn(f"processors of node {cost['from']}, {shown}", words)

    def test_it_loads_nothing_and_runs_nothing(self):
        picture = self.picture("-i", "lab:opteron-4x2")
        kinds = {each.tag.removeprefix(SVG) for each in picture.iter()}
        self.assertLessEqual(kinds, {"svg", "title", "desc", "style", "rect", "g", "text"})
        self.assertNotIn("http", ElementTree.tostring(picture).decode().replace(SVG[1:-1], ""))

    def test_hostile_names_stay_text(self):
        machine = json.loads((ROOT / "lab/machines/opteron-4x2.json").read_text())
        hostile = "</title><script>alert(1)</script>\x1b[2J&amp;\u202e"
        machine["name"] = machine["title"] = hostile
        machine["parameters"][0]["source"] = hostile
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "m.json").write_text(json.dumps(machine))
            picture = self.picture("-i", f"{folder}/m.json")
        self.assertEqual([each for each in picture.iter() if "script" in each.tag], [])
        self.assertTrue(any(each.startswith("</title><script>alert(1)</script>\\x1b") for each in texts(picture, "text")))

    def test_the_name_of_the_file_chooses_the_form(self):
        with tempfile.TemporaryDirectory() as folder:
            text = self.expect(0, "topo", "-i", "lab:opteron-4x2", "-o", f"{folder}/machine.svg").stdout
            self.assertIn("node P#0", text)
            self.assertEqual(ElementTree.parse(f"{folder}/machine.svg").getroot().tag, SVG + "svg")
            self.expect(0, "topo", "-i", "lab:opteron-4x2", "--json", "-o", f"{folder}/other.svg")
            self.assertIn("machine", json.loads((Path(folder) / "other.svg").read_text()))


if __name__ == "__main__":
    unittest.main()
