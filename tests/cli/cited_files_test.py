# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What messages and help texts refer to is there after `make install`."""

import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, ROOT

CODE = ("cli", "src", "lab", "agent")
LITERAL = re.compile(r'"(?:[^"\\\n]|\\.)*"')
CITED = re.compile(r"[\w./-]*\w\.md\b")
COMMENT = {"//", "/*", "* ", "# "}


def cited():
    """Every document that a text in the code names: (file, line number, name)."""
    for folder in CODE:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix not in (".cpp", ".hpp", ".c", ".h", ".py"):
                continue
            for number, line in enumerate(file.read_text().splitlines(), 1):
                if line.strip()[:2] in COMMENT:
                    continue
                for literal in LITERAL.findall(line):
                    for name in CITED.findall(literal):
                        yield file.relative_to(ROOT), number, name


class CitedFiles(unittest.TestCase):
    def test_each_is_installed(self):
        with tempfile.TemporaryDirectory() as prefix:
            subprocess.run(["cmake", f"-DCMAKE_INSTALL_PREFIX={prefix}", "-P", str(BUILD / "cli/cmake_install.cmake")],
                           check=True, stdout=subprocess.DEVNULL)
            found = list(cited())
            self.assertTrue(found)
            for file, number, name in found:
                with self.subTest(file=str(file), line=number):
                    self.assertTrue((Path(prefix) / name).is_file(), name)

    def test_headings_that_are_cited_exist(self):
        for name in ("Limits", "Machine files"):
            self.assertRegex((ROOT / "docs/lab.md").read_text(), rf"(?m)^#+ {name}$")


if __name__ == "__main__":
    unittest.main()
