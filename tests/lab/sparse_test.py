# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Sparse matrices on four nodes: their pages are on the owners of the rows, and so is the traffic of products."""

import tempfile
import unittest
from pathlib import Path

import lab
from batch import run_batch

IN_GUEST = lab.BUILD / "tests/nodewise_sparse_in_guest"
FORMS = ("copied", "adopted", "sell")
# Of the matrix's pages: each array may have one page at each of seven cuts that another worker's rows begin in.
PAGES = 0.99
# Of all memory of the process, also of libraries and of threads that wait for each other.
REMOTE = 0.02


class Sparse(unittest.TestCase):
    def test_pages_and_products_are_at_the_owners_of_the_rows(self) -> None:
        with tempfile.TemporaryDirectory(prefix="nodewise-lab-test-") as name:
            directory = Path(name)
            directory.chmod(0o777)
            batch = run_batch("4x2", [[str(IN_GUEST), form] for form in FORMS], directory, run=(), environment={})
        for form, counted in zip(FORMS, batch, strict=True):
            with self.subTest(form):
                self.assertEqual(counted.status, 0, counted.output)
                self.assertIn("result right 1\n", counted.output)
                share = float(counted.output.split("matrix on-its-owners ")[1].split()[0])
                self.assertGreaterEqual(share, PAGES)
                self.assertGreater(counted.use.all, 10000)
                self.assertLessEqual(counted.use.share, REMOTE)


if __name__ == "__main__":
    unittest.main()
