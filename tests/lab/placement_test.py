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

from lab import BUILD, MACHINES, ROOT, LabTest
from lines import in_guest

NODEWISE = BUILD / "bin/nodewise"
EXAMPLES = BUILD / "examples/first-touch"
IN_GUEST = BUILD / "tests/nodewise_placement_in_guest"
WHERE = re.compile(
    r"^(\w): (\d+) pages, ([\d.]+) % on the node of the thread that uses them; (.*)$", re.M
)


def lines_on(machine, options, programs):
    """A line for each program with these options of `nodewise run`."""
    return [(machine, f"{NODEWISE} run {options} -- {program}") for program in programs]


def shares(output):
    """Array -> share of its pages on the node of the thread that uses them, in percent."""
    found = {name: float(share) for name, _, share, _ in WHERE.findall(output)}
    if set(found) != {"a", "b", "c"}:
        raise AssertionError(f"three arrays expected in:\n{output}")
    return found


def first_touches(program):
    """In both languages, with arrays of 16 MiB."""
    return [f"{EXAMPLES / name} 16 1" for name in (program, f"{program}-f")]


USUAL = first_touches("first-touch")
AS_IT_IS = {
    share: lines_on(machine, "--bind close", USUAL)
    for machine, share in (("nehalem-2x4", 50), ("opteron-4x2", 25))
}
BLOCKED = [
    line
    for machine in ("nehalem-2x4", "opteron-4x2")
    for line in lines_on(machine, "--memory blocked --bind close", USUAL)
]
CURED = lines_on("opteron-4x2", "--bind close", first_touches("first-touch-cured"))
UNEVEN = [
    (threads, *lines_on("opteron-4x2", f"--memory blocked --bind {policy} --threads {threads}", USUAL[:1]))
    for policy, threads in (("close", 3), ("spread", 3), ("close", 7), ("spread", 5))
]
(CHOSEN,) = lines_on("opteron-4x2", "-N 1,3 --memory blocked --bind close", USUAL[:1])
REPORTED = [
    (line, local)
    for memory, local in (("", False), ("--memory blocked", True))
    for line in lines_on(
        "opteron-4x2", f"--bind close {memory} --json -o /tmp/report.json", USUAL[:1]
    )
]
LIBRARY = [
    line
    for machine in ("nehalem-2x4", "opteron-4x2", "cxl")
    for line in lines_on(machine, "", [IN_GUEST])
]


class Lines(LabTest):
    """All lines of a machine are run in one guest."""

    @classmethod
    def setUpClass(cls):
        cls.done = {}
        every = [line for lines in AS_IT_IS.values() for line in lines]
        every += BLOCKED + CURED + [line for _, line in UNEVEN] + [CHOSEN] + LIBRARY
        reported = {line for line, _ in REPORTED}
        for machine in ("nehalem-2x4", "opteron-4x2", "cxl"):
            mine = [line for line in [*every, *reported] if line[0] == machine]
            texts = [
                text + " && cat /tmp/report.json" if (machine, text) in reported else text
                for _, text in mine
            ]
            done = in_guest(texts, MACHINES / f"{machine}.json")
            cls.done.update(zip(mine, done, strict=True))

    def output(self, line):
        self.assertEqual(self.done[line].status, 0, self.done[line])
        return self.done[line].out

    def assert_all(self, found, least, most=100.0):
        for name, share in found.items():
            self.assertGreaterEqual(share, least, name)
            self.assertLessEqual(share, most, name)

    def test_as_it_is_one_over_nodes_of_the_pages_are_local(self):
        for share, lines in AS_IT_IS.items():
            for line in lines:
                with self.subTest(line):
                    self.assert_all(shares(self.output(line)), share - 0.5, share + 0.5)

    def test_unmodified_under_run_nearly_all_pages_are_local(self):
        for line in BLOCKED:
            with self.subTest(line):
                self.assert_all(shares(self.output(line)), 99)

    def test_the_cured_source_is_local_by_itself(self):
        for line in CURED:
            with self.subTest(line):
                self.assert_all(shares(self.output(line)), 99)

    def test_blocks_follow_threads_that_do_not_divide_evenly_over_nodes(self):
        for threads, line in UNEVEN:
            with self.subTest(line):
                self.assertIn(f"{threads} threads", self.output(line))
                self.assert_all(shares(self.output(line)), 99)

    def test_threads_run_on_the_nodes_that_were_asked_for(self):
        output = self.output(CHOSEN)
        self.assert_all(shares(output), 99)
        for _, pages, _, nodes in WHERE.findall(output):
            counts = dict(re.findall(r"N(\d+)=(\d+)", nodes))
            self.assertEqual(set(counts), {"1", "3"})
            self.assertEqual(sum(map(int, counts.values())), int(pages))

    def test_the_report_says_what_the_program_finds(self):
        for line, local in REPORTED:
            output = self.output(line)
            objects = json.loads(output[output.index("{") :])["processes"][0]["objects"]
            arrays = [o for o in objects if o["bytes"] == 16 << 20]
            self.assertEqual(len(arrays), 3)
            found = WHERE.findall(output)
            self.assertEqual(len(found), 3)
            for array, (_, pages, share, nodes) in zip(arrays, found):
                mine = {int(n): int(c) for n, c in re.findall(r"N(\d+)=(\d+)", nodes)}
                theirs = {s["node"]: s["pages"] for s in array["per_node"]}
                self.assertEqual(set(mine), set(theirs))
                for node, count in mine.items():
                    self.assertAlmostEqual(count, theirs[node], delta=2)
                self.assertAlmostEqual(array["local"] * 100, float(share), delta=0.2)
                self.assertEqual(array["placed"], local)

    def test_the_library_places_exactly_on_two_nodes_four_nodes_and_a_memory_only_node(self):
        for line in LIBRARY:
            with self.subTest(line):
                self.assertIn("[  PASSED  ] 11 tests.", self.output(line))
                self.assertNotIn("SKIPPED", self.output(line))


class Story(LabTest):
    def test_tells_what_the_kernel_says(self):
        story = subprocess.run([ROOT / "examples/first-touch/story", NODEWISE], capture_output=True, text=True,
                               env=os.environ | {"NODEWISE_EXAMPLES": str(EXAMPLES)}, timeout=900)
        self.assertEqual(story.returncode, 0, story.stderr)
        self.assertIn("usual.c:25", story.stderr)  # who touched first
        self.assertIn("3 of 3 entries match objects", story.stderr)
        for title, least, most in (("as it is", 49, 51), ("with the plan", 99, 100), ("fixed in the source", 99, 100)):
            row = next(line for line in story.stdout.splitlines() if line.startswith(f"  {title}  "))
            found = float(re.search(r"([\d.]+) % local", row)[1])
            self.assertTrue(least <= found <= most, row)


if __name__ == "__main__":
    unittest.main()
