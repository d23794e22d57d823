# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A tenth of the corpus, one program a subject: with its plan about as little is remote as with the best
placement, the prediction holds, and the finding names the line. `make corpus` runs the whole."""

import sys
import unittest

import lab

sys.path.insert(0, str(lab.ROOT / "tests/corpus"))

from axes import Spec, draw  # noqa: E402
from judge import Judge  # noqa: E402

SEED, COUNT = 1, 60
# Rows of 12 and of 110 KiB, of 216 bytes; a stripped static array whose rows have owners at random, and one
# whose phases share its pages; teams that are started once and for each loop, and teams in teams; no binding,
# close and spread.
DAILY = (1, 2, 7, 15, 24, 34, 52)


class Corpus(lab.LabTest):
    def test_the_same_seed_draws_the_same_programs(self) -> None:
        self.assertEqual(draw(SEED, 5), draw(SEED, COUNT)[:5])

    def test_plans_are_as_good_as_the_best_placement(self) -> None:
        judge = Judge(lab.BUILD / "bin/nodewise", "lab:" + lab.with_own_caches("4x2"), self.directory)
        specs: list[Spec] = draw(SEED, COUNT)
        for number in DAILY:
            with self.subTest(number=number, spec=str(specs[number])):
                self.assertEqual(judge.judge(specs[number], f"p{number:02}").troubles, [])


if __name__ == "__main__":
    unittest.main()
