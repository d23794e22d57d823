# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The commands of docs/tour.md, one after the other as a reader types them: each prints what the page shows.

Figures may differ a little: threads that wait read a few more lines, and where they wait is chance.
"""

import os
import re
import subprocess
import unittest
from itertools import pairwise

from lab import BUILD, ROOT, LabTest

PAGE = ROOT / "docs/tour.md"
INSTALLED = BUILD / "tests/consume/prefix"  # by consume.install
FILE = re.compile(r"^<!-- file: (\S+) -->\n```\w*\n(.*?)^```$", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```\n(\$ .*?)^```$", re.MULTILINE | re.DOTALL)
NUMBER = re.compile(r"\d+(?:\.\d+)?")
SHARE, LEAST = 0.05, 1.0  # how far a figure may be from the page's


def commands(page):
    """The page's commands, each with the output that the page shows.

    A line of only ... stands for any others; ... at the end of a line for its rest.
    """
    for block in BLOCK.findall(page):
        starts = [found.start() for found in re.finditer(r"^\$ ", block, re.MULTILINE)]
        for first, last in pairwise([*starts, len(block)]):
            line, _, output = block[first + 2 : last].partition("\n")
            yield line, output


def as_pattern(output):
    """What the output must be, with a group for each figure."""
    lines = []
    for line in output.splitlines():
        if line.strip() == "...":
            lines.append(r"(?:.*\n)*?")
            continue
        begin = line.removesuffix(" ...")
        parts = [re.escape(part) for part in NUMBER.split(begin)]
        rest = r"\n" if begin == line else r".*\n"
        lines.append(re.sub(r"(?:\\ )+", r" +", r"(\d+(?:\.\d+)?)".join(parts)) + rest)
    return "".join(lines)


class Tour(LabTest):
    def compare(self, line, shown, printed):
        found = re.fullmatch(as_pattern(shown), printed)
        self.assertIsNotNone(found, f"{line}\n--- the page\n{shown}\n--- the command\n{printed}")
        figures = [float(number) for each in shown.splitlines() if each.strip() != "..." for number in NUMBER.findall(each)]
        for expected, number in zip(figures, found.groups(), strict=True):
            self.assertLessEqual(abs(float(number) - expected), max(SHARE * expected, LEAST), f"{line}\n{printed}")

    def test_every_command_prints_what_the_page_shows(self):
        page = PAGE.read_text()
        for name, text in FILE.findall(page):
            (self.directory / name).write_text(text)
        path = f"{BUILD / 'bin'}:{os.environ['PATH']}"
        environment = os.environ | {"PATH": path, "PKG_CONFIG_PATH": f"{INSTALLED}/lib/pkgconfig",
                                    "LD_LIBRARY_PATH": f"{INSTALLED}/lib", "COLUMNS": "80"}
        count = 0
        for line, shown in commands(page):
            done = subprocess.run(["sh", "-c", line], cwd=self.directory, env=environment, text=True, stdin=subprocess.DEVNULL,
                                  stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False, timeout=900)
            with self.subTest(line):
                self.assertEqual(done.returncode, 0, done.stdout)
                self.compare(line, shown, done.stdout)
            count += 1
        self.assertGreater(count, 5)


if __name__ == "__main__":
    unittest.main()
