# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The remote shares of an example are the same on all pages: examples/README.md rounds those of the others."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
ROUNDED = 0.5  # the README has whole percent


def shares(cells):
    """The percentages of some cells of a table."""
    return [float(share) for cell in cells for share in re.findall(r"([\d.]+) %", cell)]


def rows(page, first_cell):
    """The other cells of each row of a page whose first cell begins so."""
    lines = re.findall(r"^\| (.*) \|$", (ROOT / page).read_text(), re.MULTILINE)
    split = [[cell.strip() for cell in line.split(" | ")] for line in lines]
    return [cells[1:] for cells in split if cells[0].startswith(first_cell)]


def of_readme(example):
    """As usually written, fixed by hand, with the library."""
    found = [cells[-1] for cells in rows("examples/README.md", f"[{example}]({example})")]
    (told,) = filter(None, (re.fullmatch(r"(\d+), (\d+), (\d+) %", cell) for cell in found))
    return [float(share) for share in told.groups()]


class Shares(unittest.TestCase):
    def check(self, example, told):
        readme = of_readme(example)
        self.assertEqual((len(readme), len(told)), (3, 3))
        for rounded, share in zip(readme, told, strict=True):
            self.assertLessEqual(abs(rounded - share), ROUNDED, (example, readme, told))

    def test_trees_of_tasks(self):
        usual, arenas, library = (
            shares(next(iter(rows("docs/tasks.md", form))))
            for form in ("`tbb::task_group`", "an arena for each node", "`run_tasks`, `steal::never`")
        )
        for example, *told in zip(("sort-tree", "stencil-tree", "quad-tree"), usual, arenas, library, strict=True):
            with self.subTest(example):
                self.check(example, told)

    def test_sparse_matrices(self):
        for example, first_cell in (("sparse-matrix", "`sparse-matrix`"), ("conjugate-gradients", "conjugate gradients")):
            with self.subTest(example):
                (cells,) = rows("docs/sparse.md", first_cell)
                self.check(example, shares(cells))


if __name__ == "__main__":
    unittest.main()
