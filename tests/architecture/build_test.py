# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What is built: nothing twice, no more than the story needs for the story, JSON named by headers only
in its forward form and absent from the static launcher."""

import os
import pathlib
import re
import subprocess
import unittest
from collections import Counter

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ.get("NODEWISE_BUILD", ROOT / "build/release"))

# "build OUTPUTS: RULE INPUTS | IMPLICIT INPUTS || ORDER", one statement a line.
STATEMENT = re.compile(r"^build (?P<outputs>.*?)(?<!\$): (?P<rule>\S+) ?(?P<inputs>.*)$")
COMPILES = re.compile(r"^(C|CXX|Fortran)_COMPILER__")
# Room for what comes; who needs more looks first for what need not be compiled.
MOST_STEPS_OF_THE_STORY = 192
MOST_COMPILATIONS = 540


def names(text):
    return [name for name in text.replace("|", " ").split() if name]


class Graph:
    """The statements of build.ninja."""

    def __init__(self, file):
        self.made_by = {}
        for line in file.read_text().splitlines():
            if found := STATEMENT.match(line):
                for output in names(found["outputs"]):
                    self.made_by[output] = (found["rule"], names(found["inputs"]))

    def compilations(self):
        """The sources, each as often as it is compiled."""
        return [inputs[0] for output, (rule, inputs) in self.made_by.items()
                if COMPILES.match(rule) and output.endswith((".o", ".gch"))]

    def steps_to(self, target):
        """What is made for a target; phony names are no steps."""
        done, steps, left = set(), 0, [target]
        while left:
            name = left.pop()
            if name in done or name not in self.made_by:
                continue
            done.add(name)
            rule, inputs = self.made_by[name]
            steps += rule != "phony"
            left += inputs
        return steps


class Build(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.graph = Graph(BUILD / "build.ninja")

    def test_no_source_is_compiled_twice(self):
        sources = Counter(os.path.realpath(BUILD / source) for source in self.graph.compilations())
        self.assertGreater(len(sources), 300, "the walk found too little: is this build.ninja whole?")
        self.assertEqual([source for source, count in sources.items() if count > 1], [])
        self.assertLessEqual(len(sources), MOST_COMPILATIONS)

    def test_files_that_are_compiled_joined_are_not_compiled_alone(self):
        alone = {os.path.realpath(BUILD / source) for source in self.graph.compilations()}
        units = [pathlib.Path(source) for source in alone if "/Unity/" in source]
        joined = [match for unit in units for match in re.findall(r'#include "(.*)"', unit.read_text())]
        self.assertGreater(len(joined), 10)
        self.assertEqual([source for source in joined if os.path.realpath(source) in alone], [])
        self.assertEqual([source for source, count in Counter(joined).items() if count > 1], [])

    def test_the_story_builds_what_it_needs(self):
        steps = self.graph.steps_to("story")
        self.assertGreater(steps, 80)
        self.assertLessEqual(steps, MOST_STEPS_OF_THE_STORY)

    def test_all_is_what_is_installed(self):
        inside = {name for name in self.graph.made_by if name.startswith(("tests/", "published/", "bench/"))}
        self.assertGreater(len(inside), 100)
        _, inputs = self.graph.made_by["all"]
        self.assertEqual([name for name in inputs if name.startswith(("tests", "examples", "published", "bench"))], [])

    def test_headers_name_json_by_its_forward_header(self):
        headers = [*ROOT.glob("include/**/*.hpp"), *ROOT.glob("src/**/*.hpp"), *ROOT.glob("cli/**/*.hpp")]
        self.assertGreater(len(headers), 100)
        whole = [header.relative_to(ROOT).as_posix() for header in headers
                 if "#include <nlohmann/json.hpp>" in header.read_text()]
        self.assertEqual(whole, [])

    def test_the_launcher_has_no_json(self):
        def symbols_of(file):
            return subprocess.run(["nm", "-C", BUILD / file], capture_output=True, text=True, check=True).stdout

        self.assertNotIn("nlohmann", symbols_of("bin/nodewise"))
        self.assertIn("nlohmann", symbols_of("libexec/nodewise/nodewise-tool"))

    def test_the_http_library_is_loaded_by_the_server_alone(self):
        def loads(file):
            text = subprocess.run(["readelf", "-d", BUILD / file], capture_output=True, text=True, check=True).stdout
            return "httplib" in text

        self.assertTrue(loads("libexec/nodewise/nodewise-serve"))
        self.assertFalse(loads("libexec/nodewise/nodewise-tool"))


if __name__ == "__main__":
    unittest.main()
