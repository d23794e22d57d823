# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Times between a program's marks, in the ways of compiling that treat weak symbols differently. A
program measures its regions from inside and from outside: our time lies between the two."""

import itertools
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from programs_test import BUILD

HERE = pathlib.Path(__file__).resolve().parent
INCLUDE = HERE.parents[1] / "include"
MARKS = BUILD / "lib/nodewise/libnodewise-marks.so"
SOURCE = HERE / "marked_times.c"
C, CXX = ["gcc"], ["g++", "-x", "c++"]
CLANG = next((name for name in ("clang-19", "clang") if shutil.which(name)), None)
COMPILERS = [C, CXX, *([[CLANG], [CLANG, "-x", "c++"]] if CLANG else [])]
LINKS = (["-fPIE", "-pie"], ["-fno-pie", "-no-pie"])


class MarksTest(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.program = self.folder / "program"
        self.file = self.folder / "times"

    def compile(self, compiler, *flags, source=SOURCE):
        subprocess.run([*compiler, *flags, f"-I{INCLUDE}", source, "-o", self.program], check=True)

    def run_program(self, *words, preloaded=True):
        """What the program measured: (inner, outer) of each call. Its times are in the file."""
        self.file.unlink(missing_ok=True)
        env = os.environ | {"NODEWISE_MARK_TIMES": str(self.file)}
        if preloaded:
            env["LD_PRELOAD"] = str(MARKS)
        done = subprocess.run([self.program, *words], env=env, text=True, capture_output=True, check=False)
        self.assertEqual(done.stderr, "")
        return [tuple(map(int, line.split())) for line in done.stdout.splitlines()]

    def records(self):
        """(state, visits, nanoseconds, name) of each region of each process."""
        head, *lines = self.file.read_bytes().replace(b"\0", b"").decode().splitlines()
        self.assertEqual(head, "nodewise mark times 1 complete")
        records = []
        for line in lines:
            _, state, visits, seconds, name = line.split(maxsplit=4)
            whole, part = seconds.split(".")
            records.append((state, int(visits), int(whole) * 10**9 + int(part), name))
        return records

    def check_one(self, visits, words=()):
        [(inner, outer)] = self.run_program(*words)
        [(state, times, taken, name)] = self.records()
        self.assertEqual((state, times, name), ("-", visits, "work"))
        self.assertLessEqual(inner, taken)
        self.assertLessEqual(taken, outer)


class Variants(MarksTest):
    def test_programs(self):
        for compiler, link, level, seen in itertools.product(
                COMPILERS, LINKS, ("-O0", "-O2"), ("-fvisibility=default", "-fvisibility=hidden")):
            with self.subTest(compiler=compiler, link=link, level=level, seen=seen):
                self.compile(compiler, *link, level, seen)
                self.check_one(3)

    def test_the_other_syntax_of_assembler_and_link_time_optimisation(self):
        for flags in (["-masm=intel"], ["-flto", "-O2"]):
            for link in LINKS:
                with self.subTest(flags=flags, link=link):
                    self.compile(C, *flags, *link)
                    self.check_one(3)

    def test_a_shared_library(self):
        for level, seen in itertools.product(("-O0", "-O2"), ("default", "hidden")):
            with self.subTest(level=level, seen=seen):
                library = self.folder / "libwork.so"
                # Hidden or not, its main is the entry that the program calls.
                subprocess.run(["gcc", level, f"-fvisibility={seen}", "-fPIC", "-shared", "-Wl,-z,defs", f"-I{INCLUDE}",
                                "-Dmain=__attribute__((visibility(\"default\"))) work", SOURCE, "-o", library],
                               check=True)
                host = self.folder / "host.c"
                host.write_text("int work(int, char**); int main(int n, char** w) { return work(n, w); }\n")
                self.compile(C, "-Wl,-rpath," + str(self.folder), "-L" + str(self.folder), "-Wl,--no-as-needed",
                             str(library), source=host)
                self.check_one(3)

    def test_fortran(self):
        marker = INCLUDE / "nodewise"
        for link in LINKS:
            with self.subTest(link=link):
                subprocess.run(["gcc", *link[:1], "-c", "-x", "c", "-DNODEWISE_MARKER_FUNCTIONS", marker / "marker.h",
                                "-o", self.folder / "marker.o"], check=True)
                subprocess.run(["gfortran", *link, "-J", self.folder, marker / "nodewise_marker.f90",
                                HERE / "marked_times.f90", self.folder / "marker.o", "-o", self.program], check=True)
                self.check_one(1)


class Ends(MarksTest):
    def setUp(self):
        super().setUp()
        self.compile(C)

    def test_without_the_library_a_program_runs_as_before(self):
        self.assertEqual(len(self.run_program(preloaded=False)), 1)
        self.assertFalse(self.file.exists())

    def test_a_static_program_takes_no_times(self):
        self.compile(C, "-static")
        self.assertEqual(len(self.run_program()), 1)
        self.assertFalse(self.file.exists())

    def test_a_region_that_is_open_at_the_end_ends_there(self):
        self.run_program("exit")
        self.assertEqual([(r[0], r[1], r[3]) for r in self.records()], [("-", 3, "work"), ("-", 1, "open")])

    def test_nothing_is_lost_at_a_sudden_end(self):
        for how in ("_exit", "kill"):
            with self.subTest(how=how):
                [(inner, outer)] = self.run_program(how)
                work, still_open = self.records()
                self.assertTrue(inner <= work[2] <= outer)
                self.assertEqual((still_open[0], still_open[1], still_open[3]), ("+", 1, "open"))

    def test_children_have_times_of_their_own(self):
        for how, visits in (("fork", {3, 2}), ("exec", {3})):
            with self.subTest(how=how):
                measured = self.run_program(how)
                records = [r for r in self.records() if r[3] == "work"]
                self.assertEqual((len(measured), len(records)), (2, 2))
                self.assertEqual({r[1] for r in records}, visits)
                for (inner, outer), record in zip(measured, records):
                    self.assertTrue(inner <= record[2] <= outer)

    def test_a_file_that_cannot_be_written_changes_nothing(self):
        self.file = self.folder / "no such folder" / "times"
        self.assertEqual(len(self.run_program()), 1)


if __name__ == "__main__":
    unittest.main()
