# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The examples, here: every form ends well and prints the sum that its loops must give.

Where their pages are is a matter of machines with several nodes.
"""

import bisect
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, PATIENCE, ROOT, environment

EXAMPLES = BUILD / "examples"
THREADS = {"OMP_NUM_THREADS": "8", "OMP_PLACES": "cores", "OMP_PROC_BIND": "spread"}
MIB = 131072  # doubles
SCHEDULES = ("static", "dynamic", "guided", "static,8", "static,512", "static,4096", "dynamic,64", "guided,256")

# Folder -> forms, their arguments, and the checksum of two sweeps. It is computed from what the loops
# say, not taken from a run.
MODULO_8 = 2 * MIB * 3.5


def sparse_sum(rows):
    """Of A x, with ones in 8 to 16 columns around the diagonal, and x = 0, 1, 2, 3, 0, ..."""
    total = 0
    for row in range(rows):
        length = 8 + 8 * row // rows
        first = min(max(row - length // 2, 0), rows - length)
        total += sum(column % 4 for column in range(first, first + length))
    return total


def sort_key(i):
    mixed = (i + 1) * 0x9E3779B97F4A7C15 % 2**64
    mixed = (mixed ^ mixed >> 30) * 0xBF58476D1CE4E5B9 % 2**64
    return (mixed >> 40) % 2**19


def tree_bits(i, sweep):
    return (i + sweep * 0x9E3779B9) * 0x9E3779B97F4A7C15 % 2**64 >> 32


def sort_sum(sweeps):
    return sum(tree_bits(i, sweep) % 1000 for i in range(MIB) for sweep in range(sweeps))


def stencil_sum(sweeps):
    """Of a grid of 1 MiB with rows of 512: each inner element becomes the sum of its four neighbours."""
    now = [[(512 * row + column) % 10 for column in range(512)] for row in range(MIB // 512)]
    other = [row[:] for row in now]
    for _ in range(sweeps):
        for row in range(1, len(now) - 1):
            above, here, below = now[row - 1 : row + 2]
            other[row][1:-1] = [here[k - 1] + here[k + 1] + above[k] + below[k] for k in range(1, 511)]
        now, other = other, now
    return sum(map(sum, now))


STRIP = 2**13  # rows of a square of 2**20


def nearest_sum(sweeps):
    """Of 1 MiB of particles: the squares of the distances to the nearest other one. Without a tree: in strips."""
    total = 0
    for sweep in range(sweeps):
        strips = [[] for _ in range(2**20 // STRIP)]
        for i in range(2**15):
            along = (i + tree_bits(i, sweep) / 2**32) / 2**15
            bits = f"{int(along * along * 2**40):040b}"  # of y and x in turn
            x, y = int(bits[1::2], 2), int(bits[0::2], 2)
            strips[y // STRIP].append((x, y))
        for strip in strips:
            strip.sort()
        total += sum(nearest(strips, number, each) for number, strip in enumerate(strips) for each in strip)
    return total


def nearest(strips, number, particle):
    least = nearest_in(strips[number], particle, 2**40)
    below, above = number - 1, number + 1
    while below >= 0 and (particle[1] - (below + 1) * STRIP + 1) ** 2 < least:
        least = nearest_in(strips[below], particle, least)
        below -= 1
    while above < len(strips) and (above * STRIP - particle[1]) ** 2 < least:
        least = nearest_in(strips[above], particle, least)
        above += 1
    return least


def nearest_in(strip, particle, least):
    at = bisect.bisect_left(strip, particle)
    behind = at + 1 if strip[at : at + 1] == [particle] else at
    for others in (range(behind, len(strip)), range(at - 1, -1, -1)):
        for other in others:
            dx, dy = strip[other][0] - particle[0], strip[other][1] - particle[1]
            if dx * dx >= least:
                break
            least = min(least, dx * dx + dy * dy)
    return least


CASES = {
    "file-read": (("", "-cured"), ["1", "2"], MODULO_8),
    "vector": (("", "-cured"), ["1", "2"], MIB * 1.5 * (1 + 2)),
    "new-array": (("", "-cured"), ["1", "2"], MIB / 4 * (1 + 2)),
    "few-threads": (("", "-cured"), ["2", "1", "2"], MODULO_8),
    "buffer-cache": (("", "-cured"), ["1", "1", "2"], MODULO_8),
    "false-sharing": (("", "-cured"), ["1000"], 8 * 1000),
    "triangular": (("", "-misplaced", "-cured"), ["600", "2"],
                   2 * sum(column % 4 for row in range(600) for column in range(row + 1))),
    "nested": (("", "-cured"), ["2", "2", "1", "2"], 2 * MIB * (2 + 3)),
    "process-per-node": (("", "-cured"), ["1", "2"], MODULO_8),
    "push-back": (("", "-misplaced", "-cured"), ["1", "2"], (MIB + 512) * (2 * 1.5 + 1 + 2)),
    "object-members": (("", "-cured"), ["1", "2"], 2**20 // 1920 * 240 * (2 * 1.5 + 1 + 2)),
    "jagged": (("", "-cured"), ["1", "2"], 2**20 // 640 * 80 * (2 * 1.5 + 1 + 2)),
    "half-parallel": (("", "-cured"), ["1", "2"], MIB * (2 * 1 + 1.5 * (1 + 2))),
    "axes": (("", "-cured"), ["512", "2"], 512 * 512 * (1 + 2 + 3 + 4)),
    "static-arrays": (("", "-cured"), ["2"], 2**20 * 1.5 * (1 + 2)),
    "sparse-matrix": (("", "-cured"), ["1000", "2"], 2 * sparse_sum(1016)),
    "memset-touch": (("", "-cured"), ["1", "2", "4"], MIB * (1 + 2)),
    "unpinned": (("", "-cured"), ["1", "2", "4"], MIB * (1 + 2)),
    "tasks": (("", "-cured", "-omp", "-omp-cured"), ["1", "2"], MIB * (1 + 2)),
    "quad-tree": (("", "-cured", "-omp"), ["1", "2", "3"], nearest_sum(2)),
    "stencil-tree": (("", "-cured", "-omp"), ["1", "2", "3"], stencil_sum(2)),
    "sort-tree": (("", "-cured", "-omp"), ["1", "2", "3"], sort_sum(2)),
}

# Of the kernels what is known without them: the solution is 1; the input comes back; sorting loses
# nothing. None: both forms must agree.
KERNELS = {
    "cg": (["12", "60"], 12**3),
    "mg": (["24", "2"], None),
    "ft": (["8"], sum((i * 2654435761 % 2**64 >> 7) % 16 for i in range(2 * 8**3))),
    "is": (["1", "2"], sum(sort_key(i) for i in range(2**20))),
    "stencil": (["100", "6"], None),
}
FORTRAN = {"sparse-matrix": ["1000", "2"], "static-arrays": ["2"]}


def run(folder, program, *arguments, cwd=None):
    return subprocess.run([EXAMPLES / folder / program, *arguments], env=environment(**THREADS), cwd=cwd,
                          capture_output=True, text=True, timeout=PATIENCE, check=False)


class Examples(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def checksum(self, folder, program, *arguments):
        """What a form prints as its checksum; it must end well and leave no file."""
        done = run(folder, program, *arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stderr), (0, ""), (program, arguments))
        self.assertEqual(list(Path(self.folder).iterdir()), [])
        found = re.match(rf"{program}: checksum (\d+);", done.stdout)
        self.assertIsNotNone(found, done.stdout)
        return int(found[1])

    def refused(self, folder, program, *arguments):
        done = run(folder, program, *arguments, cwd=self.folder)
        self.assertEqual((done.returncode, done.stdout), (2, ""), (program, arguments))
        self.assertRegex(done.stderr, rf"\A{program}: .*\nusage: {program} .*\n\Z")
        return done.stderr

    def test_all_forms_print_the_sum_of_their_loops(self):
        for folder, (forms, arguments, expected) in CASES.items():
            for form in forms:
                with self.subTest(folder + form):
                    self.assertEqual(self.checksum(folder, folder + form, *arguments), expected)

    def test_every_schedule_gives_the_same_sum(self):
        for touch in ("blocked", "pages"):
            for schedule in SCHEDULES:
                with self.subTest(f"{touch} {schedule}"):
                    self.assertEqual(self.checksum("schedules", "schedules", touch, schedule, "1", "2"), MIB * (2 + 3))

    def test_the_parts_of_a_process_make_the_whole(self):
        parts = [self.checksum("process-per-node", "process-per-node", "1", "2", str(part), "3") for part in (1, 2, 3)]
        self.assertEqual(sum(parts), MODULO_8)

    def test_migrated_programs_compute_what_they_did_before(self):
        for program in ("stream", "tbb", "vectors"):
            before, after = (run("migration", f"{program}-{form}", cwd=self.folder) for form in ("before", "after"))
            with self.subTest(program):
                self.assertEqual((before.returncode, after.returncode, before.stderr), (0, 0, ""))
                self.assertEqual(before.stdout.splitlines()[0], after.stdout.splitlines()[0])

    def test_wrong_arguments_are_answered_with_the_usage(self):
        for folder, (forms, arguments, _) in CASES.items():
            for form in forms:
                with self.subTest(folder + form):
                    for word in ("x", "0", "-1", "1x", "", "99999999999999999999"):
                        self.assertIn(f"'{word}' is not a number", self.refused(folder, folder + form, word))
                    self.refused(folder, folder + form, *arguments, *["1"] * 6)

    def test_wrong_schedules_are_answered_with_the_usage(self):
        for words in ((), ("blocked",), ("block", "static"), ("pages", "stat"), ("pages", "static,"),
                      ("pages", "static,0"), ("pages", "static,8,8"), ("pages", "static", "1", "1", "1")):
            with self.subTest(words):
                self.refused("schedules", "schedules", *words)

    def test_a_folder_that_takes_no_file_is_named(self):
        for program, words in (("file-read", ("1", "1")), ("buffer-cache", ("1", "1", "1"))):
            for form in ("", "-cured"):
                done = run(program, program + form, *words, "/no/such/folder")
                self.assertEqual((done.returncode, done.stdout), (1, ""))
                self.assertIn("/no/such/folder", done.stderr)
                self.assertIn("name another folder", done.stderr)

    def test_the_input_file_is_removed_from_the_folder_that_was_named(self):
        for form in ("", "-cured"):
            self.checksum("file-read", "file-read" + form, "1", "2", self.folder)
            self.checksum("buffer-cache", "buffer-cache" + form, "1", "1", "2", self.folder)

    def test_the_kernel_says_where_the_pages_are(self):
        for form in ("", "-cured"):
            lines = run("buffer-cache", "buffer-cache" + form, "1", "2", "1", cwd=self.folder).stdout.splitlines()
            self.assertEqual(len(lines), 2)
            self.assertRegex(lines[1], r"^data: \d+ pages, ")
            self.assertEqual(sum(int(pages) for pages in re.findall(r"N\d+=(\d+)", lines[1])), 512)


class Kernels(unittest.TestCase):
    def both(self, kernel, *arguments):
        """What both forms print as their checksum; they must end well."""
        sums = set()
        for form in ("", "-cured"):
            done = run("kernels", kernel + form, *arguments)
            self.assertEqual((done.returncode, done.stderr), (0, ""), (kernel, arguments))
            sums.add(re.match(rf"{kernel}{form}: checksum (\d+);", done.stdout)[1])
        self.assertEqual(len(sums), 1, sums)
        return int(sums.pop())

    def test_both_forms_find_what_is_right(self):
        for kernel, (arguments, expected) in KERNELS.items():
            with self.subTest(kernel):
                found = self.both(kernel, *arguments)
                if expected is not None:
                    self.assertEqual(found, expected)

    def test_they_check_themselves_at_other_sizes(self):
        for kernel, arguments in {"cg": ["5"], "mg": ["1"], "ft": ["32", "2"], "stencil": ["1", "2"]}.items():
            with self.subTest(kernel):
                self.both(kernel, *arguments)

    def test_a_wrong_result_ends_with_status_1(self):
        """More iterations than the arithmetic can follow: 0 divided by 0 is no residual."""
        done = run("kernels", "cg", "2", "500")
        self.assertEqual(done.returncode, 1, done)
        self.assertRegex(done.stderr, r"\Acg: wrong: .* at most .* is right\n\Z")

    def test_wrong_arguments_are_answered_with_the_usage(self):
        for kernel in KERNELS:
            for words in (("x",), ("0",), ("1", "x"), ("1", "1", "1")):
                done = run("kernels", kernel, *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), (kernel, words))
                self.assertRegex(done.stderr, rf"\A{kernel}: .*\nusage: {kernel} .*\n\Z")


class Fortran(unittest.TestCase):
    def test_both_forms_print_the_sum_of_the_program_in_c(self):
        for folder, arguments in FORTRAN.items():
            for form in ("-f", "-f-cured"):
                done = run(folder, folder + form, *arguments)
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                found = re.match(rf"{folder}{form}: checksum (\d+);", done.stdout)
                self.assertEqual(int(found[1]), CASES[folder][2])

    def test_wrong_arguments_are_answered_with_the_usage(self):
        for folder in FORTRAN:
            for words in (("x",), ("0",), ("-1",), ("1x",), ("",), ("1", "1", "1")):
                done = run(folder, f"{folder}-f", *words)
                self.assertEqual((done.returncode, done.stdout), (2, ""), words)
                self.assertRegex(done.stderr, rf"\A{folder}-f: .*\nusage: {folder}-f .*\n\Z")


class FirstTouch(unittest.TestCase):
    def test_both_forms_agree(self):
        ends = set()
        for program in ("first-touch", "first-touch-cured"):
            done = run("first-touch", program, "1", "2")
            self.assertEqual((done.returncode, done.stderr), (0, ""))
            ends.add(re.search(r"\(a: (.*)\)", done.stdout)[1])
        self.assertEqual(ends, {"4 to 4"})

    def test_wrong_arguments_are_answered_with_the_usage(self):
        for program in ("first-touch", "first-touch-cured"):
            done = run("first-touch", program, "x")
            self.assertEqual(done.returncode, 2)
            self.assertIn("usage: first-touch ", done.stderr)


class Folders(unittest.TestCase):
    def test_every_folder_is_tested_and_in_the_table(self):
        folders = {path.parent.name for path in (ROOT / "examples").glob("*/CMakeLists.txt")}
        folders.remove("migration")  # no pattern, but docs/migration.md's
        folders.remove("conjugate-gradients")  # with the library only: the other forms are kernels
        self.assertEqual(folders, set(CASES) | {"schedules", "first-touch", "kernels"})
        forms, rest = (ROOT / "examples/README.md").read_text().split("\n## With the library\n")
        with_library = {path.parent.name for path in (ROOT / "examples").glob("*/library.cpp")}
        for text, wanted in ((forms, folders), (rest, with_library)):
            rows = re.findall(r"^\| \[([\w-]+)\]\(\1\) \|", text, re.M)
            self.assertEqual(sorted(rows), sorted(wanted))


if __name__ == "__main__":
    unittest.main()
