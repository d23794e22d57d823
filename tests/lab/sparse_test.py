# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Products with sparse matrices, counted array by array: where the usual form reads from other nodes,
and what the library leaves of that."""

import re
import tempfile
import unittest
from pathlib import Path
from typing import ClassVar

import lab
from batch import Counted, Fills, run_batch

IN_GUEST = lab.BUILD / "tests/nodewise_sparse_in_guest"
NODES = {"4x2": 4, "2x4": 2}
LIBRARY = ("copied banded", "adopted banded", "sell banded", "copied random")
RUNS = ("usual banded", *LIBRARY)
LARGE = 4 << 20  # bytes of the vectors and of the smallest array of the matrix that counts
# Of the matrix: row starts, columns, values. In SELL-C-sigma, starts are of chunks and small.
ARRAYS = {"usual": 3, "copied": 3, "adopted": 3, "sell": 2}
REMOTE = 0.005
PREDICTED = 0.05
# Of the matrix's pages: each array may have one page at each of seven cuts that another worker's rows begin in.
PAGES = 0.99


class Run:
    """A form of the product: fills in use of its large arrays."""

    def __init__(self, counted: Counted):
        self.counted = counted
        at = {name: int(address) for name, address in re.findall(r"^([xy]) at (\d+)$", counted.output, re.M)}
        self.vectors: dict[str, Fills] = {}
        self.matrix: list[Fills] = []
        for addresses, fills in counted.ranges.items():
            if len(addresses) < LARGE or not fills.all:
                continue
            name = next((name for name, address in at.items() if address in addresses), None)
            if name:
                self.vectors[name] = fills
            else:
                self.matrix.append(fills)

    def figure(self, name: str) -> float:
        return float(re.search(rf"^{name} ([\d.]+)$", self.counted.output, re.M)[1])


class Sparse(unittest.TestCase):
    """All forms in one machine of each shape."""

    runs: ClassVar[dict[tuple[str, str], Run]] = {}

    @classmethod
    def setUpClass(cls) -> None:
        commands = [[str(IN_GUEST), *run.split()] for run in RUNS]
        for machine in NODES:
            with tempfile.TemporaryDirectory(prefix="nodewise-lab-test-") as name:
                Path(name).chmod(0o777)
                batch = run_batch(machine, commands, Path(name), run=())
            for run, counted in zip(RUNS, batch, strict=True):
                cls.runs[machine, run] = Run(counted)

    def test_results_are_right_and_all_arrays_are_counted(self) -> None:
        for (machine, name), run in self.runs.items():
            with self.subTest(f"{name} on {machine}"):
                self.assertEqual(run.counted.status, 0, run.counted.output)
                self.assertIn("right 1\n", run.counted.output)
                self.assertEqual(len(run.matrix), ARRAYS[name.split()[0]])
                self.assertEqual(set(run.vectors), {"x", "y"})
                for fills in (*run.matrix, run.vectors["y"]):
                    self.assertGreater(fills.all, LARGE // 64)

    def test_the_usual_form_reads_every_array_from_other_nodes(self) -> None:
        for machine, nodes in NODES.items():
            run = self.runs[machine, "usual banded"]
            for fills in (*run.matrix, *run.vectors.values()):
                with self.subTest(machine):
                    self.assertAlmostEqual(fills.share, (nodes - 1) / nodes, delta=0.01)

    def test_matrix_and_result_are_at_the_owners_of_the_rows(self) -> None:
        for machine in NODES:
            for name in LIBRARY:
                run = self.runs[machine, name]
                with self.subTest(f"{name} on {machine}"):
                    self.assertGreaterEqual(run.figure("matrix on-its-owners"), PAGES)
                    for fills in (*run.matrix, run.vectors["y"]):
                        self.assertLessEqual(fills.share, REMOTE)

    def test_the_input_vector_is_as_remote_as_predicted(self) -> None:
        for machine, nodes in NODES.items():
            for name in LIBRARY:
                local = 1 / nodes if name.endswith("random") else 1.0
                run = self.runs[machine, name]
                with self.subTest(f"{name} on {machine}"):
                    predicted = run.figure("input locality")
                    self.assertAlmostEqual(predicted, local, delta=0.01)
                    self.assertAlmostEqual(1 - run.vectors["x"].share, predicted, delta=PREDICTED)


if __name__ == "__main__":
    unittest.main()
