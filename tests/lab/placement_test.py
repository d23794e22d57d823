# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Placement on a real kernel with several nodes: the library's and `nodewise run`'s.

Shares are those that the program itself finds by asking the kernel (examples/first-touch/where.c);
what nodewise reports is then held against them.
"""

import json
import os
import re
import subprocess
import unittest

from lab import BUILD, ROOT, LabTest

NODEWISE = BUILD / "bin/nodewise"
EXAMPLES = BUILD / "examples/first-touch"
IN_GUEST = BUILD / "tests/nodewise_placement_in_guest"
WHERE = re.compile(
    r"^(\w): (\d+) pages, ([\d.]+) % on the node of the thread that uses them; (.*)$", re.M
)


def nodewise_run(machine, *arguments):
    """`nodewise run --on lab:MACHINE ...`; returns its standard output, or fails with all it said."""
    command = [NODEWISE, "run", "--on", f"lab:{machine}", "--on-no-count", *arguments]
    result = subprocess.run(
        command, capture_output=True, text=True, timeout=300, stdin=subprocess.DEVNULL
    )
    if result.returncode != 0:
        raise AssertionError(
            f"{command}: status {result.returncode}\n{result.stdout}{result.stderr}"
        )
    return result.stdout


def shares(output):
    """Array -> share of its pages on the node of the thread that uses them, in percent."""
    found = {name: float(share) for name, _, share, _ in WHERE.findall(output)}
    if set(found) != {"a", "b", "c"}:
        raise AssertionError(f"three arrays expected in:\n{output}")
    return found


class FirstTouch(LabTest):
    def assert_all(self, found, least, most=100.0):
        for name, share in found.items():
            self.assertGreaterEqual(share, least, name)
            self.assertLessEqual(share, most, name)

    def both_languages(self, program):
        return [EXAMPLES / program, EXAMPLES / f"{program}-f"]

    def test_as_it_is_one_over_nodes_of_the_pages_are_local(self):
        for machine, share in (("nehalem-2x4", 50), ("opteron-4x2", 25)):
            for program in self.both_languages("first-touch"):
                with self.subTest(machine=machine, program=program.name):
                    output = nodewise_run(machine, "--bind", "close", "--", program, "16", "1")
                    self.assert_all(shares(output), share - 0.5, share + 0.5)

    def test_unmodified_under_run_nearly_all_pages_are_local(self):
        for machine in ("nehalem-2x4", "opteron-4x2"):
            for program in self.both_languages("first-touch"):
                with self.subTest(machine=machine, program=program.name):
                    output = nodewise_run(
                        machine, "--memory", "blocked", "--bind", "close", "--", program, "16", "1"
                    )
                    self.assert_all(shares(output), 99)

    def test_the_cured_source_is_local_by_itself(self):
        for program in self.both_languages("first-touch-cured"):
            output = nodewise_run("opteron-4x2", "--bind", "close", "--", program, "16", "1")
            self.assert_all(shares(output), 99)

    def test_blocks_follow_threads_that_do_not_divide_evenly_over_nodes(self):
        for policy, threads in (("close", "3"), ("spread", "3"), ("close", "7"), ("spread", "5")):
            with self.subTest(policy=policy, threads=threads):
                output = nodewise_run(
                    "opteron-4x2",
                    "--memory",
                    "blocked",
                    "--bind",
                    policy,
                    "--threads",
                    threads,
                    "--",
                    EXAMPLES / "first-touch",
                    "16",
                    "1",
                )
                self.assertIn(f"{threads} threads", output)
                self.assert_all(shares(output), 99)

    def test_threads_run_on_the_nodes_that_were_asked_for(self):
        output = nodewise_run(
            "opteron-4x2",
            "-N",
            "1,3",
            "--memory",
            "blocked",
            "--bind",
            "close",
            "--",
            EXAMPLES / "first-touch",
            "16",
            "1",
        )
        self.assert_all(shares(output), 99)
        for _, pages, _, nodes in WHERE.findall(output):
            counts = dict(re.findall(r"N(\d+)=(\d+)", nodes))
            self.assertEqual(set(counts), {"1", "3"})
            self.assertEqual(sum(map(int, counts.values())), int(pages))

    def test_the_report_says_what_the_program_finds(self):
        for memory, local in (((), False), (("--memory", "blocked"), True)):
            report = self.directory / "run.json"
            command = [
                NODEWISE,
                "run",
                "--on",
                "lab:opteron-4x2",
                "--on-no-count",
                "--bind",
                "close",
                *memory,
                "--json",
                "-o",
                report,
                "--",
                EXAMPLES / "first-touch",
                "16",
                "1",
            ]
            output = subprocess.run(
                command, capture_output=True, text=True, cwd=self.directory, check=True
            ).stdout
            objects = json.loads(report.read_text())["processes"][0]["objects"]
            arrays = [o for o in objects if o["bytes"] == 16 << 20]
            self.assertEqual(len(arrays), 3)
            for array, (_, pages, share, nodes) in zip(arrays, WHERE.findall(output)):
                mine = {int(n): int(c) for n, c in re.findall(r"N(\d+)=(\d+)", nodes)}
                theirs = {s["node"]: s["pages"] for s in array["per_node"]}
                self.assertEqual(set(mine), set(theirs))
                for node, count in mine.items():
                    self.assertAlmostEqual(count, theirs[node], delta=2)
                self.assertAlmostEqual(array["local"] * 100, float(share), delta=0.2)
                self.assertEqual(array["placed"], local)


class Library(LabTest):
    def test_places_exactly_on_two_nodes_four_nodes_and_a_memory_only_node(self):
        for machine in ("nehalem-2x4", "opteron-4x2", "cxl"):
            with self.subTest(machine=machine):
                output = nodewise_run(machine, "--", IN_GUEST)
                self.assertIn("[  PASSED  ] 10 tests.", output)
                self.assertNotIn("SKIPPED", output)


class Story(LabTest):
    def test_tells_what_the_kernel_says(self):
        story = subprocess.run([ROOT / "examples/first-touch/story", NODEWISE], capture_output=True, text=True,
                               env=os.environ | {"NODEWISE_EXAMPLES": str(EXAMPLES)}, timeout=300)
        self.assertEqual(story.returncode, 0, story.stderr)
        self.assertIn("usual.c:25", story.stderr)  # who touched first
        self.assertIn("3 of 3 entries fit objects", story.stderr)
        for title, least, most in (("as it is", 49, 51), ("with the plan", 99, 100), ("cured in the source", 99, 100)):
            row = next(line for line in story.stdout.splitlines() if line.startswith(f"  {title}  "))
            found = float(re.search(r"([\d.]+) % local", row)[1])
            self.assertTrue(least <= found <= most, row)


if __name__ == "__main__":
    unittest.main()
