# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""docs/reference is what the headers say, and says all of it."""

import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
REFERENCE = ROOT / "docs/reference"
COMMAND = [sys.executable, "-B", ROOT / "docs/generate/reference.py"]
LINK = re.compile(r"\]\((?!https:)([^)#]*)#?([^)]*)\)")
CODE = re.compile(r"^```.*?^```|`[^`]*`", re.MULTILINE | re.DOTALL)


def contents(folder: Path) -> dict[str, str]:
    return {path.name: path.read_text() for path in folder.glob("*.md")}


def anchors(text: str) -> set[str]:
    return {re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-") for title in re.findall(r"^#+ (.*)$", text, re.M)}


@unittest.skipUnless(shutil.which("doxygen"), "there is no doxygen here; scripts/setup installs it")
class Generated(unittest.TestCase):
    maxDiff = None

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def generate(self, root: Path) -> subprocess.CompletedProcess:
        command = [*COMMAND, "--root", root, "--to", self.folder / "pages"]
        return subprocess.run(command, capture_output=True, text=True, timeout=300, check=False)

    def changed(self, header: str, before: str, after: str) -> Path:
        """A copy of the headers with one text changed."""
        root = self.folder / "root"
        shutil.copytree(ROOT / "include", root / "include")
        (root / "cmake").mkdir()
        shutil.copy(ROOT / "cmake/version.hpp.in", root / "cmake")
        text = (root / header).read_text()
        self.assertEqual(text.count(before), 1, header)
        (root / header).write_text(text.replace(before, after))
        return root

    def test_pages_are_as_the_headers(self):
        done = self.generate(ROOT)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        made, committed = contents(self.folder / "pages"), contents(REFERENCE)
        self.assertEqual(set(made), set(committed), "run `make reference`")
        for name, text in made.items():
            self.assertEqual(committed[name], text, f"docs/reference/{name}: run `make reference`")

    def test_another_docstring_is_another_page(self):
        done = self.generate(self.changed("include/nodewise/id.hpp", "Numbers may have gaps", "Numbers may have holes"))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        made, committed = contents(self.folder / "pages"), contents(REFERENCE)
        self.assertEqual({name for name in made if made[name] != committed[name]}, {"id.md"})

    def test_a_function_without_a_docstring_is_named(self):
        done = self.generate(self.changed("include/nodewise/error.hpp", "  /// Returns what to do about it.\n", ""))
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, r"\Ainclude/nodewise/error\.hpp:\d+: error::hint has no docstring\n\Z")


class Committed(unittest.TestCase):
    def test_every_public_header_has_a_page_in_the_index(self):
        include = ROOT / "include"
        headers = [include / "nodewise.h", *(p for p in (include / "nodewise").iterdir() if p.is_file())]
        names = {path.relative_to(include).as_posix() for path in headers} | {"nodewise/version.hpp"}
        listed = dict(re.findall(r"^\| \[(.*?)\]\((.*?)\)", (REFERENCE / "README.md").read_text(), re.MULTILINE))
        self.assertEqual(set(listed), names)
        for name, page in listed.items():
            self.assertTrue((REFERENCE / page).read_text().startswith(f"# {name}\n"), page)

    def test_links_of_the_documentation_lead_somewhere(self):
        followed = 0
        for path in [*(ROOT / "docs").glob("**/*.md"), ROOT / "README.md", ROOT / "CONTRIBUTING.md"]:
            for page, anchor in LINK.findall(CODE.sub("`", path.read_text())):
                target = (path.parent / page).resolve() if page else path
                with self.subTest(path.relative_to(ROOT).as_posix(), page=page, anchor=anchor):
                    self.assertTrue(target.exists())
                    if anchor and target.suffix == ".md":
                        self.assertIn(anchor, anchors(target.read_text()))
                followed += 1
        self.assertGreater(followed, 600)


if __name__ == "__main__":
    unittest.main()
