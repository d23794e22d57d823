# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Unmodified programs on four nodes show the same under `nodewise run` as without it.

tests/agent/acceptance.py runs them, one after the other in one machine, and prints all they show.
"""

import json
import re
import subprocess
import unittest

from lab import BUILD, PYTHON, ROOT, LabTest

NODEWISE = BUILD / "bin/nodewise"
ACCEPTANCE = ROOT / "tests/agent/acceptance.py"
PROGRAMS = BUILD / "tests/agent"
MACHINE = "lab:opteron-4x2"

SYSTEM = ["python", "sort", "xz", "gcc", "sqlite", "redis"]
OURS = ["habits", "own_operators", "plugins", "torture"]
# The processes in which a program of the list makes its large objects.
PROCESSES = {"python": "python3", "gcc": "cc1", "sqlite": "sqlite3", "redis": "redis-server",
             "plugins": "cxx_plugin_host"}
SMALL = {"sqlite"}  # makes none of 1 MiB


class Programs(LabTest):
    plain: dict = {}

    @staticmethod
    def shown(names, *options, folder="/tmp"):
        """Name -> what the program showed."""
        done = subprocess.run(
            [NODEWISE, "run", "--on", MACHINE, "--quiet", *map(str, options), "--", PYTHON, "-B", ACCEPTANCE, PROGRAMS, "1", *names],
            capture_output=True, text=True, stdin=subprocess.DEVNULL, cwd=folder, timeout=900,
        )
        if (done.returncode, done.stderr) != (0, ""):
            raise AssertionError(f"status {done.returncode}: {done.stderr}\n{done.stdout}")
        return dict(re.findall(r"^=== (\w+)\n(.*?)(?=^=== |\Z)", done.stdout, re.M | re.S))

    @classmethod
    def setUpClass(cls):
        cls.plain = cls.shown(SYSTEM + OURS)

    def check(self, names, *options, large_only=False):
        """The same output, and in each program objects were on nodes that the agent chose."""
        report = self.directory / "run.json"
        shown = self.shown(names, *options, "--json", "-o", report, folder=self.directory)
        for name in names:
            with self.subTest(name):
                self.assertIn("status 0\n", self.plain[name])
                self.assertEqual(shown[name], self.plain[name])
        processes = json.loads(report.read_text())["processes"]
        # A process that was killed has no totals.
        placed = {process["program"] for process in processes for each in process["objects"] if each["placed"]}
        wanted = set(names) - (SMALL if large_only else set())
        self.assertLessEqual({PROCESSES.get(name, name) for name in wanted}, placed)
        nodes = {share["node"] for process in processes for each in process["objects"] for share in each["per_node"]}
        self.assertEqual(nodes, {0, 1, 2, 3})

    def test_blocked(self):
        self.check(SYSTEM + OURS, "--memory", "blocked", "--bind", "close", large_only=True)

    def test_cyclic(self):
        self.check(SYSTEM + OURS, "--memory", "cyclic:64K", large_only=True)

    def test_blocked_from_64_kib(self):
        self.check(SYSTEM + OURS, "--memory", "blocked", "--bind", "close", "--threshold", "64K")

    def test_with_huge_pages(self):
        self.check(["python", "xz", "habits"], "--memory", "blocked", "--bind", "close",
                   "--on-thp", "always", large_only=True)


if __name__ == "__main__":
    unittest.main()
