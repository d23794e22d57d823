# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Freed large blocks are kept for the next request: what programs may rely on, and what it saves."""

import json
import os
import pathlib
import subprocess
import tempfile
import unittest

import agent_report
from programs_test import AGENT, PROGRAMS
from promises_test import run

PROGRAM = PROGRAMS / "reused"
NODEWISE = PROGRAMS.parent.parent / "bin/nodewise"
SETTINGS = ("v3;threshold=1048576;owners=0*2,0*2;default=blocked", "v3;threshold=65536;default=cyclic@65536@0*2,0*2",
            "v3;threshold=1048576;default=bind@0", "v3;threshold=1048576;default=local", "v3;threshold=1048576")
DONE = (7, b"", b"")


class Reused(unittest.TestCase):
    def check(self, case, settings=SETTINGS, plain=DONE):
        self.assertEqual(run([PROGRAM, case]), plain)
        for each in settings:
            with self.subTest(each):
                self.assertEqual(run([PROGRAM, case], [AGENT], each), DONE)

    def test_makes_no_system_call(self):
        """The C library's heap needs some at first."""
        for each in SETTINGS[:3]:
            with self.subTest(each):
                self.assertEqual(run([PROGRAM, "without_system_calls"], [AGENT], each), DONE)

    def test_calloc_finds_zeros(self):
        self.check("zeroed_by_calloc")

    def test_alignments_hold(self):
        self.check("aligned_as_asked")

    def test_realloc_keeps_the_bytes(self):
        self.check("resized")

    def test_what_is_kept_is_bounded(self):
        self.check("bounded")

    def test_it_is_given_back_where_address_space_is_short(self):
        for each in (*SETTINGS[:3], SETTINGS[4]): # what is placed by first touch is not kept
            with self.subTest(each):
                self.assertEqual(run([PROGRAM, "given_back_for_others"], [AGENT], each), DONE)

    def test_a_forked_child_has_its_own(self):
        self.check("in_a_child")

    def test_a_second_free_ends_the_program_as_without_the_agent(self):
        self.check("freed_twice")

    def test_threads_free_what_others_have_made(self):
        self.check("among_threads")

    def test_each_use_is_an_object_of_the_report(self):
        for settings in SETTINGS[:3]:
            with self.subTest(settings), tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
                agent_report.reserve(file.name)
                self.assertEqual(run([PROGRAM, "in_a_child"], [AGENT], f"{settings};report={file.name}"), DONE)
                report = agent_report.read(pathlib.Path(file.name).read_bytes())
                mine = [each for each in report.objects if each.pid == report.ends[-1].pid]
                sequences = [each.sequence for each in mine]
                self.assertEqual(sorted(sequences), list(range(len(mine))))
                self.assertTrue(all(each.flags & agent_report.PLACED for each in mine))

    def test_pages_shows_the_block_that_is_there(self):
        env = os.environ | {"LD_PRELOAD": str(AGENT), "NODEWISE_AGENT": SETTINGS[0]}
        with subprocess.Popen([PROGRAM, "shown"], env=env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as shown:
            self.assertEqual(shown.stdout.readline(), "ready\n")
            found = json.loads(subprocess.run([NODEWISE, "pages", "--json", str(shown.pid)], capture_output=True,
                                              text=True, check=True).stdout)
            shown.stdin.close()
        areas = found["samples"][0]["processes"][0]["areas"]
        blocks = [area for area in areas if area["kind"] == "array" and area["bytes"] == 3 << 20]
        self.assertEqual(len(blocks), 1, found)


if __name__ == "__main__":
    unittest.main()
