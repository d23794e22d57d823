# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What tests of the lab's traffic counter share: running a program counted, and reading the result."""

import json
import os
import subprocess
from pathlib import Path

import lab

NODEWISE = lab.BUILD / "bin/nodewise"
PROGRAMS = lab.BUILD / "tests/traffic"
FIRST_TOUCH = lab.BUILD / "examples/first-touch"
TWO, FOUR, EIGHT = (lab.with_own_caches(name) for name in ("2x4", "opteron-4x2", "8x1"))
NODES = {TWO: 2, FOUR: 4, EIGHT: 8}


class Count:
    """A result, schema nodewise/traffic/1."""

    def __init__(self, document: dict):
        self.document = document

    def fills(self, phase: str) -> int:
        return self.document[phase]["local_lines"] + self.document[phase]["remote_lines"]

    def remote(self, phase: str = "use") -> float:
        return self.document[phase]["remote_lines"] / self.fills(phase)

    def arrays(self, least: float = 0.01) -> dict[str, dict]:
        """The objects with at least that share of the fills, by name."""
        most = least * self.fills("use")
        return {s["name"]: s for s in self.document["sites"] if lines(s, "use") >= most}

    def line(self, phase: str = "use") -> str:
        """The source line with most fills."""
        return max(self.document["lines"], key=lambda each: lines(each, phase))["name"]


def lines(entry: dict, phase: str) -> int:
    return entry[phase]["local_lines"] + entry[phase]["remote_lines"]


class TrafficTest(lab.LabTest):
    def run_counted(
        self, machine: str, *command: object, run: tuple[str, ...] = (), threads: int = 8
    ) -> subprocess.CompletedProcess[str]:
        environment = {
            **os.environ,
            "OMP_NUM_THREADS": str(threads),
            "OMP_PROC_BIND": "spread",
            "OMP_PLACES": "cores",
        }
        options = ["--on", f"lab:{machine}", "--on-counts", "counts.json", *run]
        self.result = self.directory / "counts.json"
        self.result.unlink(missing_ok=True)
        return subprocess.run(
            [NODEWISE, "run", *options, "--", *map(str, command)],
            capture_output=True, text=True, env=environment, cwd=self.directory, timeout=900,
            stdin=subprocess.DEVNULL, check=False,
        )  # fmt: skip

    def count(self, machine: str, *command: object, **rest: object) -> Count:
        done = self.run_counted(machine, *command, **rest)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return Count(json.loads(self.result.read_text()))

    def assert_within(self, value: float, wanted: float, share: float, what: str) -> None:
        self.assertLessEqual(abs(value - wanted), share * wanted, f"{what}: {value}, not {wanted}")
