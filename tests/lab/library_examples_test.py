# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The examples' forms with the library, built against the installed one, counted with nothing bound
from outside: each is as local as the form that is cured by hand, or better."""

import re
import tempfile
import unittest
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

import lab
from batch import Counted, Fills, run_batch

# consume.examples has built them.
PROGRAMS = lab.BUILD / "tests/consume/examples/cmake"
FOUR, NODES = "4x2", 4
MIB = 131072  # doubles


@dataclass(frozen=True)
class Row:
    """What to run, its checksum, and the most that may be remote of the use phase. All memory of the
    process counts: runs without anything remote in the arrays had up to 1 % in libraries' own data, and
    more where threads waited longer for each other. Waiting only adds, so one run within is enough."""

    command: str
    checksum: float
    remote: float = 0.015


def sparse_sum(rows: int) -> int:
    """Of A x, with ones in 8 to 16 columns around the diagonal, and x = 0, 1, 2, 3, 0, ..."""
    total = 0
    for row in range(rows):
        length = 8 + 8 * row // rows
        first = min(max(row - length // 2, 0), rows - length)
        total += sum(column % 4 for column in range(first, first + length))
    return total


SWEEPS = 4
MORE_RUNS = 9  # one of 66 runs was over its bound
GROWING = 1 + 2 + 3 + 4  # what elements are that begin at 0 and grow by 1 in each sweep
DOUBLES = 16 * MIB
TRIANGLE = SWEEPS * sum(column % 4 for row in range(2048) for column in range(row + 1))
# Small rows in small blocks: where the blocks of two nodes meet a page has two users. The main thread
# destroys what is made by all.
EDGES = 0.03
# What is stolen hangs on how the emulated processors take turns. Nobody steals before its own node has
# nothing left (lab.library holds loops to that), so the first node to have nothing left has done all
# of its own part: that much is local at the least.
STOLEN = (NODES - 1) / NODES + 0.015

ROWS = (
    Row("file-read/file-read-library 16 4", SWEEPS * DOUBLES * 3.5),
    Row("vector/vector-library 16 4", DOUBLES * 1.5 * GROWING),
    Row("new-array/new-array-library 16 4", DOUBLES / 4 * GROWING),
    Row("push-back/push-back-library 16 4", (DOUBLES + 512) * (SWEEPS * 1.5 + GROWING)),
    Row("object-members/object-members-library 16 4", 2**24 // 1920 * 240 * (SWEEPS * 1.5 + GROWING), EDGES),
    Row("static-arrays/static-arrays-library 4", 2**20 * 1.5 * GROWING),
    Row("static-arrays/static-arrays-library-f 4", 2**20 * 1.5 * GROWING),
    Row("memset-touch/memset-touch-library 16 4", DOUBLES * GROWING),
    Row("half-parallel/half-parallel-library 16 4", DOUBLES * (SWEEPS + 1.5 * GROWING)),
    Row("half-parallel/half-parallel-library-c 16 4", DOUBLES * (SWEEPS + 1.5 * GROWING)),
    Row("jagged/jagged-library 16 4", 2**24 // 640 * 80 * (SWEEPS * 1.5 + GROWING), EDGES),
    Row("jagged/jagged-library-c 16 4", 2**24 // 640 * 80 * (SWEEPS * 1.5 + GROWING), EDGES),
    Row("axes/axes-library 1536 4", 1536 * 1536 * sum(range(2 * SWEEPS + 1))),
    Row("triangular/triangular-library 2048 4", TRIANGLE),
    Row("triangular/triangular-library-f 2048 4", TRIANGLE),
    Row("schedules/schedules-library owned 16 4", DOUBLES * (SWEEPS + GROWING)),
    Row("schedules/schedules-library never 16 4", DOUBLES * (SWEEPS + GROWING)),
    Row("schedules/schedules-library local-first 16 4", DOUBLES * (SWEEPS + GROWING), STOLEN),
    Row("sparse-matrix/sparse-matrix-library 131072 4", SWEEPS * sparse_sum(131088)),
    Row("conjugate-gradients/conjugate-gradients-library 56 15", 56**3),
    Row("tasks/tasks-library 16 4", DOUBLES * GROWING, STOLEN),
    Row("unpinned/unpinned-library 16 4", DOUBLES * GROWING),
    Row("nested/nested-library 4 4", NODES * DOUBLES / 4 * (SWEEPS + GROWING)),
)

# What these show is not a share.
FEW_THREADS = "few-threads/few-threads-library 1 8 2"
FALSE_SHARING = "false-sharing/false-sharing-library 100000"
FIRST_TOUCH = ("first-touch/first-touch-library", "first-touch/first-touch-library-c 16 2",
               "first-touch/first-touch-library-f 16 2")  # fmt: skip
BOUND = ("env", "OMP_PLACES=cores", "OMP_PROC_BIND=close", "OMP_NUM_THREADS=8")


def words(command: str) -> list[str]:
    program, *arguments = command.split()
    return [str(PROGRAMS / program), *arguments]


class Library(unittest.TestCase):
    """All of them in one machine."""

    batch: ClassVar[dict[str, Counted]]
    directory: ClassVar[Path]

    @classmethod
    def setUpClass(cls) -> None:
        cls.directory = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nodewise-lab-test-")))
        cls.directory.chmod(0o777)
        names = (*(row.command for row in ROWS), FEW_THREADS, FALSE_SHARING, *FIRST_TOUCH)
        commands = {name: words(name) for name in names}
        commands["bound by OpenMP"] = [*BOUND, *words(FIRST_TOUCH[0])]
        batch = cls.run_all(list(commands.values()))
        cls.batch = dict(zip(commands, batch, strict=True))

    @classmethod
    def run_all(cls, commands: list[list[str]]) -> list[Counted]:
        return run_batch(FOUR, commands, cls.directory, run=(), environment={})

    def least_share(self, row: Row) -> float:
        """Remote of the use phase, of the first run that is within the bound or of the best."""
        share = self.batch[row.command].use.share
        for _ in range(MORE_RUNS):
            if share <= row.remote:
                break
            share = min(share, self.run_all([words(row.command)])[0].use.share)
        return share

    def ended_well(self, command: str) -> Counted:
        counted = self.batch[command]
        self.assertEqual(counted.status, 0, counted.output)
        return counted

    def test_use_is_local_and_the_sum_is_that_of_the_usual_form(self) -> None:
        for row in ROWS:
            with self.subTest(row.command):
                counted = self.ended_well(row.command)
                self.assertEqual(int(re.search(r"checksum (\d+);", counted.output)[1]), row.checksum)
                self.assertGreater(counted.use.all, 10000)
                self.assertLessEqual(self.least_share(row), row.remote)

    def test_all_memories_serve_few_threads(self) -> None:
        counted = self.ended_well(FEW_THREADS)
        self.assertLess(counted.imbalance(NODES), 1.1)
        # Most of it is remote, on purpose.
        self.assertAlmostEqual(counted.use.share, (NODES - 1) / NODES, delta=0.02)

    def test_no_counter_shares_a_line(self) -> None:
        counted = self.ended_well(FALSE_SHARING)
        self.assertIn("checksum 800000;", counted.output)
        self.assertEqual([line for line in counted.shared if line["rewrites"] > 1000], [])

    def test_first_touch_draws_a_block_a_node(self) -> None:
        for command in FIRST_TOUCH:
            with self.subTest(command):
                counted = self.ended_well(command)
                blocks = re.findall("0{12}1{12}2{12}3{12}  16.0 MiB, 100 % on its owner", counted.output)
                self.assertEqual(len(blocks), 3, counted.output)
                self.assertGreater(arrays_of(counted).all, 10000)
                # Of the arrays alone: threads that wait read the libraries' own data from anywhere.
                self.assertLessEqual(arrays_of(counted).share, 0.01)

    def test_each_array_is_named_by_the_line_that_made_it(self) -> None:
        # In C++ two lines make the three arrays; in C one line does, in a loop.
        for command, file, lines in ((FIRST_TOUCH[0], "library.cpp", 2), (FIRST_TOUCH[1], "library.c", 1)):
            with self.subTest(command):
                arrays = self.ended_well(command).arrays(0.01)
                self.assertEqual(len(arrays), lines, arrays)
                for name in arrays:
                    self.assertRegex(name, rf"^{re.escape(file)}:\d+$")

    def test_threads_that_openmp_has_bound_stay_where_they_are(self) -> None:
        output = self.ended_well("bound by OpenMP").output
        self.assertEqual(len(re.findall("16.0 MiB, 100 % on its owner", output)), 3, output)
        self.assertIn("8 chunks, 0 stolen; 100.0 % of 48.0 MiB at home", output)


class ConjugateGradients(unittest.TestCase):
    """Vectors of 4 MiB, in the form with the library and in the one that is cured by hand, whose threads
    OpenMP binds."""

    COMMANDS: ClassVar = [
        words("conjugate-gradients/conjugate-gradients-library 81 4"),
        [str(lab.BUILD / "examples/kernels/cg-cured"), "81", "4"],
    ]
    MOST = 1.2  # times the remote share of the latter; it was 0.9 or less

    def test_arrays_are_as_local_as_those_that_are_cured_by_hand(self) -> None:
        for machine in (FOUR, "2x4"):
            with self.subTest(machine), tempfile.TemporaryDirectory(prefix="nodewise-lab-test-") as name:
                Path(name).chmod(0o777)
                library, cured = run_batch(machine, self.COMMANDS, Path(name), run=())
                self.assertEqual((library.status, cured.status), (0, 0), library.output + cured.output)
                self.assertGreater(cured.use.all, 10000)
                self.assertGreater(arrays_of(cured).remote, 0)
                self.assertLessEqual(arrays_of(library).share, self.MOST * arrays_of(cured).share)


def arrays_of(counted: Counted) -> Fills:
    """Of all objects with at least a percent of the fills."""
    arrays = counted.arrays(0.01).values()
    return Fills(sum(each.local for each in arrays), sum(each.remote for each in arrays))


if __name__ == "__main__":
    unittest.main()
