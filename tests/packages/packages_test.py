# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The packages of `make dist` in bare Debian systems: `make test-dist`. Needs root and a mirror of Debian.

With NODEWISE_TEST_LAB=1 it also follows what the lab's messages ask for, which downloads 300 MB for each system.
"""

import os
import re
import subprocess
import tempfile
import unittest
import zipfile
from pathlib import Path

from roots import PROJECT, Root

DIST = PROJECT / "dist"
PROGRAM = "python3 -c 'print(sum(bytearray(1 << 26)))'"
PIP = "python3 -m venv /opt/nodewise && /opt/nodewise/bin/pip install --no-index /dist/nodewise-*_x86_64.whl"


def only(pattern: str) -> Path:
    files = list(DIST.glob(pattern))
    if len(files) != 1:
        raise AssertionError(f"{DIST} must contain one {pattern}: make dist")
    return files[0]


class Wheel(unittest.TestCase):
    def test_it_is_small_and_has_all_parts(self):
        file = only("*_x86_64.whl")
        self.assertLess(file.stat().st_size, 15e6)
        with zipfile.ZipFile(file) as archive:
            self.assertIsNone(archive.testzip())
            modes = {each.filename.partition(".data/")[2]: each.external_attr >> 16 for each in archive.infolist()}
        for program in ("scripts/nodewise", "data/libexec/nodewise/nodewise-tool", "data/libexec/nodewise/lab/guest-init",
                        "data/libexec/nodewise/lab/guest-remote"):
            self.assertTrue(modes[program] & 0o111, program)
        for part in (
            "lib/nodewise/libnodewise-agent.so",
            "libexec/nodewise/lab/counter/counter-api3.so",
            "libexec/nodewise/lab/nodewise_lab/__main__.py",
            "share/nodewise/machines/gap.json",
            "share/nodewise/report/report.js",
            "share/man/man1/nodewise-run.1",
            "share/bash-completion/completions/nodewise",
            "share/doc/nodewise/licences/elfutils",
        ):
            self.assertIn(f"data/{part}", modes)

    def test_all_packages_have_the_project_s_version(self):
        project = re.search(r"^project\(nodewise VERSION (\S+)", (PROJECT / "CMakeLists.txt").read_text(), re.MULTILINE)
        assert project is not None
        self.assertRegex(only("*_x86_64.whl").name, f"^nodewise-{re.escape(project.group(1))}-")
        self.assertRegex(only("*.deb").name, f"^nodewise_{re.escape(project.group(1))}-")
        self.assertRegex(only("*.rpm").name, f"^nodewise-{re.escape(project.group(1))}-")


class Policy(unittest.TestCase):
    def test_lintian_has_no_error_and_no_warning(self):
        words = ["lintian", "--allow-root", "--fail-on=error,warning", "--display-level=>=warning", only("*.deb")]
        done = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
        self.assertEqual((done.returncode, done.stdout), (0, ""))


class Rpm(unittest.TestCase):
    """Unpacked, not installed: there is no mirror of a distribution with RPM here."""

    def query(self, *words: str) -> str:
        return subprocess.run(["rpm", *words, only("*.rpm")], capture_output=True, text=True, check=True).stdout

    def test_it_has_the_files_of_the_wheel_and_asks_for_the_c_library_alone(self):
        with zipfile.ZipFile(only("*.whl")) as archive:
            places = [name.partition(".data/")[2] for name in archive.namelist()]
        expected = {re.sub("^scripts/", "bin/", place.removeprefix("data/")) for place in places if place}
        files = {line.split()[-1] for line in self.query("-qplv").splitlines() if line.startswith("-")}
        self.assertEqual({re.sub(r"^/usr/(share/man/.*)\.gz$|^/usr/", r"\1", name) for name in files}, expected)
        needed = [line for line in self.query("-qp", "--requires").splitlines() if not line.startswith("rpmlib(")]
        self.assertEqual(needed, ["libc.so.6(GLIBC_2.28)(64bit)"])
        self.assertIn("digests OK", self.query("-K"))

    def test_it_runs_where_it_is_unpacked(self):
        root = Root("bookworm", DIST)
        self.addCleanup(root.close)
        with tempfile.TemporaryDirectory() as folder:
            subprocess.run(["sh", "-c", 'rpm2cpio "$0" | cpio --quiet -id', only("*.rpm")], cwd=folder, check=True)
            root.put(Path(folder) / "usr", "/opt/unpacked")
        done = root.run(f"/opt/unpacked/bin/nodewise profile -- {PROGRAM}")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(done.stdout, r"python3\.\d+\+0x.* 64\.0 MiB")


class Installed(unittest.TestCase):
    """One line installs a package in a bare system, and the command works at once."""

    def expect(self, command: str) -> str:
        result = self.root.run(f"PATH=/opt/nodewise/bin:$PATH; {command}")
        self.assertEqual(result.returncode, 0, f"{command}\n{result.stdout}")
        return result.stdout

    def check(self, release: str, installation: str) -> None:
        self.root = Root(release, DIST)
        self.addCleanup(self.root.close)
        self.expect(installation)
        self.assertIn("1 node", self.expect("nodewise topo"))
        self.assertIn("mbind", self.expect("nodewise doctor; [ $? -le 1 ]"))  # 1: something prevents good placement
        profile = self.expect(f"nodewise profile -- {PROGRAM}")
        self.assertRegex(profile, r"python3\.\d+\+0x.* 64\.0 MiB", "the allocation is named by its module")
        self.expect(f"nodewise run --memory interleave -- {PROGRAM}")
        self.lab(release)

    def lab(self, release: str) -> None:
        command = "nodewise topo --on lab:2x2"
        message = self.expect(f"{command}; [ $? -eq 125 ]")
        if release == "bullseye":  # its QEMU is too old, too
            self.assertIn("Python 3.11 or later", message)
            return
        hint = re.search(r"hint: .*: sudo (apt-get install .*)", message)
        assert hint is not None, message
        if os.environ.get("NODEWISE_TEST_LAB") == "1":
            self.expect(f"apt-get update && {hint.group(1)} -y --no-install-recommends")
            self.assertIn("2 nodes", self.expect(command))

    def test_wheel_on_debian_11(self):
        self.check("bullseye", PIP)

    def test_wheel_on_debian_12(self):
        self.check("bookworm", PIP)

    def test_wheel_on_debian_13(self):
        self.check("trixie", PIP)

    def test_deb_on_debian_11(self):
        self.check("bullseye", "dpkg -i /dist/nodewise_*.deb")

    def test_deb_on_debian_13(self):
        self.check("trixie", "dpkg -i /dist/nodewise_*.deb")


if __name__ == "__main__":
    unittest.main()
