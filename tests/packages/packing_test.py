# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The packers of `make dist`: the same tree makes the same bytes, whatever the system's settings are."""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
METADATA = b"Metadata-Version: 2.1\nName: nodewise\nVersion: 1.2.3\n"
LICENCES = re.search(r"for work in (.*); do", (PACKAGING / "deb").read_text()).group(1).split()
DEB = "nodewise_1.2.3-1_amd64.deb"
PROGRAMS = ("bin/nodewise", "libexec/nodewise/nodewise-tool")
FILES = (
    *PROGRAMS,
    "lib/nodewise/libdw.so.1",
    "share/zsh/site-functions/_nodewise",
    "share/man/man1/nodewise.1",
    *(f"share/doc/nodewise/licences/{name}" for name in LICENCES),
)


def make_tree(folder: Path, files, when: int) -> Path:
    """A tree like the installed one, with the modes of the present umask."""
    for name in files:
        file = folder / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(f"{name}\n" * 300)
        if name in PROGRAMS or ".so" in name:
            file.chmod(file.stat().st_mode | 0o100)
        os.utime(file, (when, when))
    return folder


class Packed(unittest.TestCase):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def pack(self, tree, name, **variables):
        """Makes both packages and returns their bytes."""
        results = self.folder / name
        results.mkdir()
        (results / "METADATA").write_bytes(METADATA)
        env = {"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": "1700000000", **variables}
        for words in (
            [sys.executable, "-B", PACKAGING / "wheel.py", tree, results / "METADATA", "2.28", "x86_64", results],
            [PACKAGING / "deb", tree, "1.2.3", "2.28", results],
        ):
            done = subprocess.run(words, env=env, capture_output=True, text=True, check=False)
            self.assertEqual(done.returncode, 0, done.stderr)
        return {file.name: file.read_bytes() for file in results.iterdir()}

    def field(self, package, name):
        return subprocess.run(["dpkg-deb", "--field", package, name], capture_output=True, text=True, check=True).stdout.strip()

    def test_order_modes_dates_and_locale_change_no_byte(self):
        one = self.pack(make_tree(self.folder / "tree", FILES, 1), "one", TZ="UTC", LC_ALL="C")
        before = os.umask(0o077)
        try:
            tree = make_tree(self.folder / "elsewhere/tree", reversed(FILES), 1_000_000_000)
            two = self.pack(tree, "two", TZ="Asia/Tokyo", LC_ALL="C.UTF-8", DPKG_DEB_THREADS_MAX="1")
        finally:
            os.umask(before)
        self.assertEqual(sorted(one), ["METADATA", "nodewise-1.2.3-py3-none-manylinux_2_28_x86_64.whl", DEB])
        self.assertEqual([name for name in sorted(one) if one[name] != two[name]], [])

    def test_the_date_of_the_files_is_that_of_the_commit(self):
        tree = make_tree(self.folder / "tree", FILES, 1)
        one, two = self.pack(tree, "one"), self.pack(tree, "two", SOURCE_DATE_EPOCH="1600000000")
        self.assertEqual([name for name in one if one[name] == two[name]], ["METADATA"])

    def test_who_publishes_the_debian_package_is_named(self):
        tree = make_tree(self.folder / "tree", FILES, 1)
        for name, variables, expected in (
            ("default", {}, "The Nodewise authors <nodewise@packages.invalid>"),
            ("given", {"NODEWISE_MAINTAINER": "A. Person <a@example.org>"}, "A. Person <a@example.org>"),
        ):
            self.pack(tree, name, **variables)
            package = self.folder / name / DEB
            self.assertEqual(self.field(package, "Maintainer"), expected)
        kib = int(self.field(package, "Installed-Size"))
        self.assertGreater(kib, len(FILES))
        self.assertLess(kib, 400)
        for wrong in ("A. Person", "a@example.org", "A <a@b> <c@d>", "A\nDepends: c <a@b>"):
            done = subprocess.run(
                [PACKAGING / "deb", tree, "1.2.3", "2.28", self.folder / "wrong"],
                env={"PATH": os.environ["PATH"], "SOURCE_DATE_EPOCH": "0", "NODEWISE_MAINTAINER": wrong},
                capture_output=True, text=True, check=False,
            )  # fmt: skip
            self.assertEqual(done.returncode, 2, wrong)
            self.assertIn("NAME <ADDRESS>", done.stderr)
            self.assertFalse((self.folder / "wrong").exists())


class Linked(unittest.TestCase):
    def test_each_installed_program_is_static_or_linked_with_the_old_c_library(self):
        linked = (PACKAGING / "CMakeLists.txt").read_text()
        names = []
        for room in ("cli", "lab"):
            text = (PACKAGING.parent / room / "CMakeLists.txt").read_text()
            for targets in re.findall(r"install\(TARGETS ([a-z_ ]+) (?:RUNTIME )?DESTINATION", text):
                names += targets.split()
                for name in targets.split():
                    with self.subTest(name):
                        is_static = f"target_link_options({name} PRIVATE -static)" in text
                        self.assertTrue(is_static or re.search(rf"\b{name}\b", linked), "packaging/CMakeLists.txt does not name it")
        self.assertGreater(len(names), 4)


if __name__ == "__main__":
    unittest.main()
