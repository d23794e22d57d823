# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Every public header begins with an example, which names only what it includes. docs.header_examples_run compiles
and runs the examples."""

import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from header_examples import INCLUDE, ROOT, WITHOUT, example_of, examples
from interface import page_of, public_headers

COMMAND = [sys.executable, "-B", ROOT / "tests/docs/header_examples.py"]
NO_CODE = re.compile(r'//[^\n]*|/\*.*?\*/|"[^"\n]*"', re.DOTALL)

SOURCE = """\
// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the header
// is for.
//
//     #include <nodewise/id.hpp>
//
//     for (;;) {
//       break;
//
//     }
//
// More.
//
//     not_code();
#pragma once
"""


def declared(headers: list[str], root: Path = ROOT) -> str:
    """What these headers and those that they include declare."""
    public = public_headers(root)
    left, read = list(headers), {}
    while left:
        header = left.pop()
        if header not in read:
            read[header] = NO_CODE.sub("", public.get(header, root / "include" / header).read_text())
            left += INCLUDE.findall(read[header])
    return "\n".join(read.values())


class Headers(unittest.TestCase):
    def test_all_have_an_example(self):
        found = {example.header for example in examples(ROOT)}
        public = {name for name in public_headers(ROOT) if not name.endswith(".f90")}
        self.assertGreater(len(found), 30)
        self.assertEqual(found | set(WITHOUT), public)
        self.assertEqual(found & set(WITHOUT), set())

    def test_the_reference_shows_them(self):
        for example in examples(ROOT):
            code = "\n".join(example.code)
            page = (ROOT / "docs/reference" / page_of(example.header)).read_text()
            with self.subTest(example.header):
                self.assertIn(f"\n{code}\n```\n", page)

    def test_names_are_declared_by_what_the_example_includes(self):
        for example in examples(ROOT):
            with self.subTest(example.header):
                known = declared([example.header, *example.includes])
                code = NO_CODE.sub("", "\n".join(example.code))
                names = set(re.findall(r"\bnodewise::(\w+)|\b((?:nodewise_|NODEWISE_)\w+)", code))
                self.assertTrue(names)
                for name in (cpp or c for cpp, c in names):
                    self.assertRegex(known, rf"\b{name}\b")

    def test_includes_are_needed(self):
        for example in examples(ROOT):
            for header in example.includes:
                with self.subTest(example.header, include=header):
                    others = [example.header, *(each for each in example.includes if each != header)]
                    names = re.findall(r"\bnodewise::(\w+)", "\n".join(example.code))
                    known = declared(others)
                    self.assertTrue([name for name in names if not re.search(rf"\b{name}\b", known)])


class Extraction(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.header = self.root / "include/nodewise/array.hpp"
        self.header.parent.mkdir(parents=True)
        (self.root / "cmake").mkdir()
        (self.root / "cmake/version.hpp.in").write_text(SOURCE)
        (self.root / "include/nodewise.h").write_text(re.sub("^//", " *", SOURCE, flags=re.MULTILINE)
                                                      .replace(" *", "/*", 1).replace("#pragma once", " */"))  # fmt: skip

    def write(self, header: str) -> subprocess.CompletedProcess:
        self.header.write_text(header)
        command = [*COMMAND, "--root", self.root, self.root / "made"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def refused(self, header: str) -> str:
        done = self.write(header)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertFalse((self.root / "made").exists())
        return done.stderr

    def test_the_second_paragraph_is_the_example(self):
        self.header.write_text(SOURCE)
        found = example_of("nodewise/array.hpp", self.header)
        self.assertEqual(found.code, ["for (;;) {", "  break;", "", "}"])
        self.assertEqual((found.line, found.includes), (8, ["nodewise/id.hpp"]))

    def test_the_sources_have_all_examples(self):
        done = self.write(SOURCE)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        code = "  for (;;) {\n    break;\n\n  }\n  return 0;\n}\n"
        cpp, c = ((self.root / "made" / name).read_text() for name in ("header_examples.cpp", "header_examples.c"))
        for text, header, path in (
            (cpp, "nodewise/array.hpp", self.header),
            (cpp, "nodewise/version.hpp", self.root / "cmake/version.hpp.in"),
            (c, "nodewise.h", self.root / "include/nodewise.h"),
        ):
            self.assertIn(f'{{\n#line 8 "{path}"\n{code}', text)
            self.assertIn(f"#include <{header}>\n", text)
            self.assertIn("#include <nodewise/id.hpp>\n", text)
            self.assertIn(f'run("{header}", ', cpp)

    def test_a_header_without_an_example_is_an_error(self):
        answer = "include/nodewise/array.hpp: no example: indent one by four blanks"
        self.assertIn(answer, self.refused(SOURCE.replace("//     ", "// ")))
        self.assertIn(answer, self.refused("// Only a purpose.\n#pragma once\n"))
        # It must be the second paragraph.
        self.assertIn(answer, self.refused(SOURCE.replace("// is for.\n", "// is for.\n//\n// And more.\n")))

    def test_an_example_that_is_too_long_or_too_short_is_an_error(self):
        answer = "include/nodewise/array.hpp: the example has {} lines of code; write 3 to 12"
        self.assertIn(answer.format(2), self.refused(SOURCE.replace("//       break;\n", "")))
        self.assertIn(answer.format(13), self.refused(SOURCE.replace("//       break;\n", "//       break;\n" * 11)))

    def test_an_example_where_none_is_expected_is_an_error(self):
        (self.root / "include/nodewise/export.hpp").write_text(SOURCE)
        self.assertIn("include/nodewise/export.hpp: it has an example: remove", self.refused(SOURCE))


if __name__ == "__main__":
    unittest.main()
