# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The guest works on the host's files, and changes only those of the working directory."""

import os
import stat
import tempfile
import unittest
from pathlib import Path

import lab


class WorkingDirectory(lab.LabTest):
    def test_what_is_written_there_is_the_hosts_and_the_callers(self):
        result = lab.shell("echo hello > made; mkdir sub; echo x >> old", cwd=self.directory)
        self.assert_output(result, "")
        made = self.directory / "made"
        self.assertEqual(made.read_text(), "hello\n")
        self.assertEqual((made.stat().st_uid, made.stat().st_gid), (os.getuid(), os.getgid()))
        self.assertTrue((self.directory / "sub").is_dir())

    def test_mapped_files_are_written_too(self):
        script = "import mmap; f = open('m', 'w+b'); f.truncate(8192); m = mmap.mmap(f.fileno(), 8192); m[5000] = 65"
        self.assert_output(lab.run("/usr/bin/python3", "-S", "-c", script, cwd=self.directory), "")
        self.assertEqual((self.directory / "m").read_bytes()[5000], 65)

    def test_a_name_full_of_traps(self):
        directory = self.directory / "a,b 'c\" d=e"
        directory.mkdir()
        self.assert_output(lab.shell("pwd; echo 1 > f", cwd=directory), f"{directory}\n")
        self.assertEqual((directory / "f").read_text(), "1\n")

    def test_programs_there_can_be_run(self):
        program = self.directory / "program"
        program.write_text("#!/bin/sh\necho I run\n")
        program.chmod(0o755)
        self.assert_output(lab.run("./program", cwd=self.directory), "I run\n")


class Elsewhere(lab.LabTest):
    def test_other_files_are_seen_and_left_alone(self):
        with tempfile.TemporaryDirectory() as other:
            file = Path(other, "file")
            file.write_text("before\n")
            script = (
                f"cat {file}; echo after > {file}; cat {file}; echo new > {other}/new; rm -f {file}"
            )
            self.assert_output(lab.shell(script, cwd=self.directory), "before\nafter\n")
            self.assertEqual(file.read_text(), "before\n")
            self.assertEqual(os.listdir(other), ["file"])


class SetuidFiles(lab.LabTest):
    def test_root_finds_none_on_the_host_afterwards(self):
        script = "cp /bin/true t; chmod 4755 t; install -m 6711 /bin/true u; mkdir d; chmod 2775 d; chmod 755 u; chmod 4711 u"
        for options in ((), ("--overlay",)):
            with self.subTest(options):
                folder = self.directory / ("overlay" if options else "direct")
                folder.mkdir()
                result = lab.shell(script, options=options, cwd=folder)
                self.assertEqual(result.returncode, 0, result.stderr)
                root = os.geteuid() == 0
                expected = {"t": 0o755, "u": 0o711} if root else {"t": 0o4755, "u": 0o4711}
                found = {name: stat.S_IMODE((folder / name).stat().st_mode) for name in expected}
                self.assertEqual(found, expected)
                self.assertEqual(stat.S_IMODE((folder / "d").stat().st_mode), 0o2775)
                warnings = (1 if options else 2) if root else 0  # of copied files by folder
                self.assertEqual(result.stderr.count(b"written without"), warnings, result.stderr)


class Overlay(lab.LabTest):
    def test_changes_arrive_at_the_end(self):
        (self.directory / "kept").write_text("kept\n")
        (self.directory / "changed").write_text("1\n")
        (self.directory / "removed").write_text("")
        (self.directory / "replaced").mkdir()
        (self.directory / "replaced/inside").write_text("")
        script = """
            echo 2 >> changed; rm removed; rm -r replaced; mkdir replaced; echo y > replaced/new
            mkdir -p deep/er; echo z > deep/er/file; ln -s kept link; touch tool; chmod 750 tool
            touch -d '2020-01-01 UTC' old; mkfifo pipe
        """
        result = lab.shell(script, options=("--overlay",), cwd=self.directory)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn(b"'pipe' was not copied back", result.stderr)
        found = {str(path.relative_to(self.directory)) for path in self.directory.rglob("*")}
        expected = "kept changed replaced replaced/new deep deep/er deep/er/file link tool old"
        self.assertEqual(found, set(expected.split()))
        self.assertEqual((self.directory / "changed").read_text(), "1\n2\n")
        self.assertEqual(os.readlink(self.directory / "link"), "kept")
        self.assertEqual(stat.S_IMODE((self.directory / "tool").stat().st_mode), 0o750)
        self.assertEqual((self.directory / "old").stat().st_mtime, 1577836800)
        self.assertEqual((self.directory / "deep/er/file").stat().st_uid, os.getuid())

    def test_files_of_others_are_left_alone_while_changes_arrive(self):
        """Another run's unfinished file, and a link that somebody has laid out."""
        name = ".nodewise-unfinished"
        (self.directory / "sub").mkdir()
        with tempfile.TemporaryDirectory() as other:
            victim = Path(other, "victim")
            victim.write_text("victim\n")
            (self.directory / "sub" / name).symlink_to(victim)
            (self.directory / name).write_text("another run's\n")
            result = lab.shell("echo 1 > first; echo 2 > sub/second", options=("--overlay",), cwd=self.directory)
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertEqual(victim.read_text(), "victim\n")
        self.assertEqual((self.directory / name).read_text(), "another run's\n")
        self.assertTrue((self.directory / "sub" / name).is_symlink())
        self.assertEqual((self.directory / "first").read_text(), "1\n")
        self.assertEqual((self.directory / "sub/second").read_text(), "2\n")
        self.assertFalse((self.directory / "sub/second").is_symlink())
        self.assertEqual(sorted(os.listdir(self.directory)), [name, "first", "sub"])


if __name__ == "__main__":
    unittest.main()
