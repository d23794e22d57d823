# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise drop-cache` with a file of this test. The lab's test does it with whole nodes."""

import ctypes
import mmap
import os
import re
import tempfile
import unittest
from pathlib import Path

from command import CommandTest, conforms

PAGE = mmap.PAGESIZE
LIBC = ctypes.CDLL(None, use_errno=True)


def cached_pages(path: Path) -> int:
    """By mincore."""
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0) as mapped:
        start = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        pages = (ctypes.c_ubyte * (-(-len(mapped) // PAGE)))()
        if LIBC.mincore(ctypes.c_void_p(start), ctypes.c_size_t(len(mapped)), pages) != 0:
            raise OSError(ctypes.get_errno(), "mincore")
        return sum(page & 1 for page in pages)


class DropCache(CommandTest):
    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(dir=os.getcwd())))
        self.file = self.folder / "input"
        self.file.write_bytes(bytes(64 * PAGE))
        with self.file.open("rb") as file:
            os.fsync(file.fileno())
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        if cached_pages(self.file) != 0:
            self.skipTest(f"{os.getcwd()} is in a file system whose pages cannot be dropped")

    def test_a_named_file_leaves_memory(self):
        self.file.read_bytes()
        self.assertEqual(cached_pages(self.file), 64)
        result = self.expect_json(0, "drop-cache", "--json", str(self.file))
        self.assertEqual(cached_pages(self.file), 0)
        self.assertIsNone(conforms(result, "drop-cache-1"))
        self.assertEqual((result["way"], result["files"]), ("files", [{"path": str(self.file), "stayed_bytes": 0}]))

    def test_the_older_name_of_the_verb_works(self):
        self.file.read_bytes()
        result = self.expect_json(0, "sweep", "--json", str(self.file))
        self.assertEqual((result["schema"], cached_pages(self.file)), ("nodewise/drop-cache/1", 0))

    def test_a_missing_file_is_reported_and_the_others_are_dropped(self):
        self.file.read_bytes()
        missing = self.folder / "missing"
        done = self.expect(3, "drop-cache", str(missing), str(self.file))
        self.assertRegex(done.stdout, re.escape(f"{missing}: ENOENT"))
        self.assertEqual(cached_pages(self.file), 0)

    def test_mapped_pages_stay_and_are_reported(self):
        with self.file.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
            for at in range(0, 16 * PAGE, PAGE):
                mapped[at]
            result = self.expect_json(3, "drop-cache", "--json", str(self.file))
            text = self.expect(3, "drop-cache", str(self.file)).stdout
        self.assertIsNone(conforms(result, "drop-cache-1"))
        stayed = result["files"][0]["stayed_bytes"]
        self.assertGreaterEqual(stayed, 16 * PAGE)
        self.assertRegex(text, re.escape(f"{self.file}: ") + r"[\d.]+ KiB stayed in memory: .*mapped")
        self.expect_json(0, "drop-cache", "--json", str(self.file))

    def test_a_directory_is_refused(self):
        done = self.expect(3, "drop-cache", str(self.folder))
        self.assertIn(f"{self.folder}: EISDIR (Is a directory), name the files in it", done.stdout)

    def test_a_file_in_a_memory_file_system_stays(self):
        with tempfile.NamedTemporaryFile(dir="/dev/shm") as file:
            file.write(bytes(2 * PAGE))
            file.flush()
            done = self.expect(3, "drop-cache", file.name)
            self.assertRegex(done.stdout, re.escape(file.name) + r": [\d.]+ KiB stayed in memory: .*tmpfs")

    def test_contradictions_are_refused_before_anything_is_done(self):
        self.file.read_bytes()
        self.assertIn("no file is named", self.expect(2, "drop-cache", "--by", "files").stderr)
        self.assertIn("files are named", self.expect(2, "drop-cache", "--by", "pressure", str(self.file)).stderr)
        self.assertIn("--nodes", self.expect(2, "drop-cache", "--nodes", "4711", str(self.file)).stderr)
        self.assertEqual(cached_pages(self.file), 64)


if __name__ == "__main__":
    unittest.main()
