# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Code in the documentation is that of the sources it names."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
COMMAND = [sys.executable, "-B", ROOT / "docs/generate/code_blocks.py"]

SOURCE = """\
// A comment about the whole file.
#include <vector>

class plate {
 public:
  void step() {
#pragma omp parallel for
    for (int i = 0; i < 4; ++i) {
      next(i);
    }
  }
};

int main() {
  plate hot;
  hot.step();
}
"""


class CodeBlocks(unittest.TestCase):
    def setUp(self):
        self.root = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.root / "docs").mkdir()
        (self.root / "source.cpp").write_text(SOURCE)

    def run_on(self, page: str, *options: str) -> subprocess.CompletedProcess:
        (self.root / "docs/page.md").write_text(page)
        command = [*COMMAND, "--root", self.root, *options]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def block(self, what: str) -> str:
        """What becomes of an empty block."""
        done = self.run_on(f"Text.\n\n<!-- code: {what} -->\n```cpp\n```\n\nMore.\n")
        self.assertEqual((done.returncode, done.stdout + done.stderr), (0, ""))
        page = (self.root / "docs/page.md").read_text()
        head, _, rest = page.partition("```cpp\n")
        code, _, tail = rest.partition("```")
        self.assertEqual((head, tail), (f"Text.\n\n<!-- code: {what} -->\n", "\n\nMore.\n"))
        return code

    def refused(self, page: str) -> str:
        done = self.run_on(page)
        self.assertEqual((done.returncode, (self.root / "docs/page.md").read_text()), (1, page))
        return done.stderr

    def test_pages_are_as_their_sources(self):
        done = subprocess.run([*COMMAND, "--check"], capture_output=True, text=True, timeout=300, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_the_library_and_the_migration_page_have_no_other_code(self):
        for page in ("library.md", "migration.md"):
            lines = (ROOT / "docs" / page).read_text().splitlines()
            for k, line in enumerate(lines):
                if line.startswith("```") and line != "```":
                    self.assertTrue(lines[k - 1].startswith("<!-- code: "), f"{page}:{k + 1}")

    def test_parts_of_a_source(self):
        whole = SOURCE.partition("\n")[2]
        self.assertEqual(self.block("source.cpp"), whole)
        self.assertEqual(self.block("source.cpp, body of main"), "plate hot;\nhot.step();\n")
        self.assertEqual(self.block("source.cpp, definition of main"), "int main() {\n  plate hot;\n  hot.step();\n}\n")
        plate = whole[whole.index("class") : whole.index("\nint")]
        self.assertEqual(self.block("source.cpp, definition of plate"), plate)
        self.assertEqual(self.block('source.cpp, from "plate hot" to "step"'), "plate hot;\nhot.step();\n")

    def test_directives_of_the_preprocessor_stay_where_they_are(self):
        code = "#pragma omp parallel for\nfor (int i = 0; i < 4; ++i) {\n  next(i);\n}\n"
        self.assertEqual(self.block("source.cpp, body of step"), code)

    def test_a_block_that_is_not_its_source_is_told_and_written(self):
        page = "<!-- code: source.cpp, body of main -->\n```cpp\nplate cold;\n```\n"
        done = self.run_on(page, "--check")
        self.assertEqual((done.returncode, (self.root / "docs/page.md").read_text()), (1, page))
        self.assertIn("docs/page.md: code is not as its source", done.stderr)
        self.assertEqual(self.run_on(page).returncode, 0)
        written = (self.root / "docs/page.md").read_text()
        self.assertEqual(written, page.replace("plate cold;", "plate hot;\nhot.step();"))
        self.assertEqual(self.run_on(written, "--check").returncode, 0)

    def test_what_is_not_there_is_an_error(self):
        block = "<!-- code: {} -->\n```cpp\n```\n"
        for what, answer in (
            ("other.cpp", "no such file"),
            ("source.cpp, body of other", "no definition of other"),
            ('source.cpp, from "other" to "step"', "0 lines with 'other', not 1"),
            ('source.cpp, from "step" to "main"', "2 lines with 'step', not 1"),
            ('source.cpp, from "plate hot" to "other"', "no line with 'other' after 'plate hot'"),
            ("source.cpp, all of it", "not understood"),
        ):
            with self.subTest(what):
                self.assertIn(f"docs/page.md: code: {what}: {answer}", self.refused(block.format(what)))

    def test_a_line_without_a_block_is_an_error(self):
        self.assertIn("without a code block", self.refused("<!-- code: source.cpp -->\n\nText.\n"))


if __name__ == "__main__":
    unittest.main()
