# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise warm` with files of this test. The lab's test does it on several nodes."""

import errno
import mmap
import os
import re
import tempfile
import unittest
from pathlib import Path

from command import CommandTest, conforms

PAGE = os.sysconf("SC_PAGESIZE")


class Warm(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=os.getcwd())))
        self.file = self.folder / "input"
        self.file.write_bytes(bytes(range(256)) * (64 * PAGE // 256) + b"end")
        self.contents = self.file.read_bytes()

    def drop(self):
        with self.file.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)

    def of(self, *arguments, code=0):
        document = self.expect_json(code, "warm", "--json", *arguments)
        self.assertIsNone(conforms(document, "warm-1"))
        return document["files"]

    def test_a_file_is_read_once(self):
        self.drop()
        checked = self.of("--look", str(self.file))[0]
        if checked["cached_now"]:
            self.skipTest(f"{os.getcwd()} is in a file system whose pages cannot be dropped")
        self.assertEqual((checked["pages"], checked["on_owner_pages"], checked["read_bytes"]), (65, 0, "unavailable"))
        self.assertEqual(self.of("--strict", "--look", str(self.file), code=1)[0]["cached_now"], {})
        first = self.of(str(self.file))[0]
        self.assertEqual((first["cached_before"], first["read_bytes"], first["stayed"]), ({}, 65 * PAGE, []))
        self.assertEqual(sum(first["cached_now"].values()), 65 * PAGE)
        again = self.of("--strict", str(self.file))[0]
        self.assertEqual((again["read_bytes"], again["on_owner_pages"]), (0, 65))
        self.assertEqual(self.file.read_bytes(), self.contents)

    def test_pages_draws_files_and_who_has_mapped_them(self):
        self.drop()
        document = self.expect_json(0, "pages", "--json", "--file", str(self.file))
        self.assertIsNone(conforms(document, "files-1"))
        found = document["files"][0]
        if found["cached"]:
            self.skipTest(f"{os.getcwd()} is in a file system whose pages cannot be dropped")
        self.assertEqual((found["runs"], found["mapped_by"]), ([{"pages": 65, "node": "not cached"}], []))
        with self.file.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            self.assertEqual(mapped[64 * PAGE :], b"end")
            document = self.expect_json(3, "pages", "--json", "--file", str(self.file), str(self.folder))
        self.assertIsNone(conforms(document, "files-1"))
        found, folder = document["files"]
        self.assertEqual(folder, {"path": str(self.folder), "errno": errno.EISDIR})
        self.assertEqual(sum(run["pages"] for run in found["runs"]), 65)
        self.assertGreaterEqual(sum(found["cached"].values()), PAGE)
        self.assertRegex(found["mapped_by"][0], rf"^{os.getpid()} \(python")
        text = self.expect(0, "pages", "--file", str(self.file)).stdout
        self.assertIn("cached\n", text)
        self.assertIn("no file is named", self.expect(2, "pages", "--file").stderr)
        self.expect(2, "pages", "--file", "--watch", str(self.file))

    def test_holes_and_empty_files(self):
        hole = self.folder / "hole"
        with hole.open("wb") as file:
            file.truncate(3 << 20)
        empty = self.folder / "empty"
        empty.touch()
        done = self.of("--strict", str(hole), str(empty))
        self.assertEqual([each["pages"] for each in done], [(3 << 20) // PAGE, 0])
        self.assertEqual(hole.stat().st_blocks, 0)
        self.assertIn("it has no pages", self.expect(0, "warm", str(empty)).stdout)

    def test_what_is_no_file_is_reported_and_the_others_are_read(self):
        os.mkfifo(self.folder / "pipe")
        missing, pipe = self.folder / "missing", self.folder / "pipe"
        done = self.expect(3, "warm", str(missing), str(self.folder), str(pipe), str(self.file))
        for path, why in ((missing, "ENOENT"), (self.folder, "EISDIR"), (pipe, "ENODEV")):
            self.assertRegex(done.stdout, re.escape(f"{path}: {why}"))
        self.assertIn("100 % where asked", done.stdout)

    def test_wrong_command_lines(self):
        file = str(self.file)
        for arguments, why in (
            ([], "no file is named"), (["--to", "prefer:0", file], "a file has no such placement"), (["--to", "local", file], "a file has no such placement"),
            (["--to", "rows:80", file], "a file has no rows"), (["--to", "bind:0", file], "a file has no such placement"), (["--to", "node:9999", file], "9999"),
            (["--to", "sideways", file], "sideways"), (["--to", "interleave", "--readers", "2", file], "only blocks have readers"),
            (["--readers", "0", file], "--readers"), (["--readers", "9000", file], "8192"),
        ):  # fmt: skip
            with self.subTest(arguments):
                self.assertIn(why, self.expect(2, "warm", *arguments).stderr)

    def test_a_hostile_name_stays_a_name(self):
        odd = self.folder / "a\x1b[31mb"
        odd.write_bytes(b"x")
        self.assertNotIn("\x1b", self.expect(0, "warm", str(odd)).stdout)


if __name__ == "__main__":
    unittest.main()
