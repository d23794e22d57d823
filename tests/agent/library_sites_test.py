# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Memory of the library has the name of the program's line that asked for it, without a trace of stacks."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import agent_report
from agent_report import REGION

BUILD = pathlib.Path(os.environ["NODEWISE_BUILD"])
AGENT = BUILD / "lib/nodewise/libnodewise-agent.so"
PROGRAMS = BUILD / "tests/agent"
PAGE = os.sysconf("SC_PAGESIZE")
BYTES = 2 << 20


def run(program, **variables):
    return subprocess.run([PROGRAMS / program], env={**os.environ, **variables}, capture_output=True, text=True,
                          timeout=580, check=True)


def regions(program):
    """What the program printed, and the regions that the agent reported: start -> record."""
    with tempfile.TemporaryDirectory(prefix="nodewise-report-") as folder:
        file = pathlib.Path(folder, "report")
        agent_report.reserve(file)
        settings = f"v3;threshold=1048576;group=256;observe;report={file}"
        printed = run(program, LD_PRELOAD=str(AGENT), NODEWISE_AGENT=settings).stdout
        report = agent_report.read(file.read_bytes())
    return printed, {each.start: each for each in report.objects if each.kind == REGION}


def lines_of(program, return_offset):
    """All source lines of a call, innermost first, by addr2line."""
    command = ["addr2line", "-i", "-e", PROGRAMS / program, hex(return_offset - 1)]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.split("\n")


class Sites(unittest.TestCase):
    def test_each_piece_is_named_by_the_line_that_made_it(self):
        printed, found = regions("library_sites")
        made = {int(start, 16) // PAGE * PAGE: int(line) for line, start in map(str.split, printed.splitlines())}
        self.assertEqual((len(made), set(made)), (4, set(found)))
        for start, line in made.items():
            places = lines_of("library_sites", found[start].caller_offset)
            self.assertTrue(any(place.endswith(f"library_sites.cpp:{line}") for place in places), (line, places))

    def test_a_library_of_an_older_version_is_reported_by_its_call(self):
        printed, found = regions("older_library")
        self.assertEqual(set(found), {int(printed, 16)})
        (place, *_) = lines_of("older_library", found[int(printed, 16)].caller_offset)
        self.assertRegex(place, r"older_library\.c:\d+$")

    def test_an_agent_of_an_older_version_is_called_as_before(self):
        done = run("library_sites", LD_PRELOAD=str(PROGRAMS / "older_agent.so"))
        self.assertEqual([int(size) // PAGE * PAGE // BYTES for size in done.stderr.split()], [1, 1, 1, 1])


if __name__ == "__main__":
    unittest.main()
