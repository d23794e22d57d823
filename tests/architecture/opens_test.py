# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The agent opens files only where the program's descriptor numbers are not touched.

agent/own_descriptors.hpp has the table of who opens files, and how. A race shows in few runs of a test, so
that a file which forgets it would be found by chance."""

import re
import unittest
from pathlib import Path

AGENT = Path(__file__).resolve().parents[2] / "agent"
OPENS = re.compile(r"\bSYS_openat\b|\bread_pagemap\(")
IN_CONSTRUCTOR = {"records"}
READ_BY = {"elf_symbols": "statics", "system_facts": "process"}  # where another file wraps it
WRAPPED = re.compile(r"\bwith_own_descriptors\(|\bread_system_facts_by\(with_own|\bleave_descriptors\(")


class Opens(unittest.TestCase):
    def test_who_opens_files_is_in_the_table_and_takes_no_number(self):
        table = set(re.findall(r"^//   (\w+)  ", (AGENT / "own_descriptors.hpp").read_text(), re.MULTILINE))
        opening = {file.stem for file in AGENT.rglob("*.?pp") if OPENS.search(file.read_text())}
        self.assertLess({"numa_pin", "pieces", "system_facts"}, opening)  # the pattern finds them
        self.assertEqual(opening - IN_CONSTRUCTOR, table)
        for name in table:
            (file,) = AGENT.rglob(f"{READ_BY.get(name, name)}.cpp")
            text = file.read_text()
            self.assertRegex(text, WRAPPED, name)


if __name__ == "__main__":
    unittest.main()
