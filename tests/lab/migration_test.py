# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The programs of docs/migration.md, before and after, counted in the lab: the page's own figures."""

import re
import unittest

import lab
from batch import run_batch

EXAMPLES = lab.BUILD / "examples/migration"
PAGE = lab.ROOT / "docs/migration.md"
PROGRAMS = ("stream", "tbb", "vectors")
TOLERANCE = {"stream": 0.01, "vectors": 0.01}
# Who takes which piece is chance for oneTBB's workers, before and after, and hangs on the turns that the
# host lets emulated processors take. Before: a quarter is local, and a hundred turns or more of them have
# a deviation of 0.043 or less. After: nobody leaves its own part while there is some.
NODES, CHANCE = 4, 0.27
# Threads that wait read the libraries' own data from anywhere, which only adds: one run within is enough.
MORE_RUNS = 4


def figures() -> dict[str, tuple[float, float]]:
    """The shares before and after that the page tells, in the order of its programs."""
    rows = re.findall(r"^\| \[.*\| ([\d.]+) % \| ([\d.]+) % \|$", PAGE.read_text(), re.MULTILINE)
    return {name: (float(a) / 100, float(b) / 100) for name, (a, b) in zip(PROGRAMS, rows, strict=True)}


class Migration(lab.LabTest):
    def shares(self, form: str, bind: str, environment: dict[str, str]) -> dict[str, float]:
        commands = [[str(EXAMPLES / f"{program}-{form}")] for program in PROGRAMS]
        counted = run_batch(
            "opteron-4x2", commands, self.directory, run=("--bind", bind), environment=environment
        )
        self.assertEqual([each.status for each in counted], [0] * len(PROGRAMS))
        for each in counted:
            self.assertGreater(each.use.all, 500_000)  # lines: the arrays do not stay in the caches
        return dict(zip(PROGRAMS, (each.use.share for each in counted), strict=True))

    def least_after(self, bounds: dict[str, float]) -> dict[str, float]:
        """With nothing set outside: of a program with a bound the least of a few runs, if the first is beyond it."""
        shares = self.shares("after", "none", {})
        for _ in range(MORE_RUNS):
            if all(shares[name] <= bound for name, bound in bounds.items()):
                break
            again = self.shares("after", "none", {})
            shares.update({name: min(shares[name], again[name]) for name in bounds})
        return shares

    def test_remote_shares_are_as_the_page_says(self) -> None:
        told = figures()
        before = self.shares("before", "close", {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"})
        after = self.least_after({name: told[name][1] + TOLERANCE[name] for name in TOLERANCE})
        for name in PROGRAMS:
            with self.subTest(name, before=before[name], after=after[name]):
                if name in TOLERANCE:
                    self.assertAlmostEqual(before[name], told[name][0], delta=TOLERANCE[name])
                    self.assertAlmostEqual(after[name], told[name][1], delta=TOLERANCE[name])
                else:
                    self.assertAlmostEqual(before[name], (NODES - 1) / NODES, delta=CHANCE)
                    self.assertLess(after[name], before[name])


if __name__ == "__main__":
    unittest.main()
