# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Files that are compiled as one: no function of an unnamed namespace is found by another file's call.

Such a function hides one that a header declares, and the compiler says nothing where the arguments fit."""

import os
import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NODEWISE_BUILD", ROOT / "build/release"))

UNNAMED = re.compile(r"^namespace \{\n(.*?)^\} // namespace$", re.MULTILINE | re.DOTALL)
# At the beginning of a line, since what is in a class is indented.
FUNCTION = re.compile(r"^(?![\s}#]|return\b|using\b)[\w:<>,&*\s\[\]]*?(?<!:)\b(\w+)\([^;{]*\{", re.MULTILINE)
IGNORED = re.compile(r'//[^\n]*|"(?:\\.|[^"\\\n])*"')


def functions(text):
    """The names of the functions in its unnamed namespaces."""
    return {name for part in UNNAMED.findall(text) for name in FUNCTION.findall(part)}


def calls(text, name):
    """Whether it calls a function of that name which it does not define itself, as a member perhaps."""
    if re.search(rf"\b{name}\([^;{{]*\)[\w\s]*\{{", text):
        return False
    return re.search(rf"(?<![\w.>:]){name}\(", text) is not None


class Joined(unittest.TestCase):
    def test_no_file_calls_what_is_another_s_own(self):
        units = [unit for unit in BUILD.glob("**/Unity/*.cxx") if not unit.is_relative_to(BUILD / "tests")]
        self.assertGreater(len(units), 10)
        found = []
        for unit in units:
            files = [Path(name) for name in re.findall(r'#include "(.*)"', unit.read_text())]
            texts = {file: IGNORED.sub('""', file.read_text()) for file in files}
            own = {file: functions(file.read_text()) for file in files}
            self.assertTrue(any(own.values()) or len(files) < 4, f"no functions found in {unit}")
            found += [
                f"{name}() of {file.relative_to(ROOT)} is called in {other.relative_to(ROOT)}"
                for file in files for other in files if other != file
                for name in own[file] - own[other] if calls(texts[other], name)
            ]  # fmt: skip
        self.assertEqual(found, [])


if __name__ == "__main__":
    unittest.main()
