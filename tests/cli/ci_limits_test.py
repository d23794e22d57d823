# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""When the comparison with the base branch is an alarm: draws from recorded runs of five programs in the lab."""

import json
import random
import statistics
import sys
import unittest

from command import ROOT

sys.path[:0] = [str(ROOT / "lab/ci"), str(ROOT / "lab/pytest-nodewise")]
from nodewise_ci.threshold import is_alarm, limit_of  # noqa: E402

RUNS = 10
TOLERANCE = 0.5
DRAWS = 1000


def recorded():
    for name, program in json.loads((ROOT / "tests/data/ci_runs.json").read_text())["programs"].items():
        usual = statistics.median(map(sum, program["runs"]))
        yield name, [100 * remote / usual for _, remote in program["runs"]]


class Limits(unittest.TestCase):
    def test_draws_from_the_same_runs_are_no_alarm_and_an_increase_beyond_the_threshold_is_one(self):
        programs = dict(recorded())
        self.assertEqual([len(runs) for runs in programs.values()], [30] * 5)
        for name, runs in programs.items():
            draws = random.Random(1)
            for number in range(DRAWS):
                drawn = draws.sample(runs, 2 * RUNS)
                base, head = drawn[:RUNS], drawn[RUNS:]
                limit = limit_of(base, TOLERANCE)
                with self.subTest(name, draw=number):
                    self.assertFalse(is_alarm(head, limit))
                    self.assertTrue(is_alarm([run + limit.threshold + 1 for run in head], limit))

    def test_the_limit_is_the_highest_run_and_the_spread_or_the_tolerance(self):
        wide, equal = limit_of([2, 5, 3], 0.5), limit_of([2, 2, 2], 0.5)
        self.assertEqual((wide.alarm_above, wide.spread, wide.threshold), (8, 3, 9))
        self.assertEqual((equal.alarm_above, equal.spread, equal.threshold), (2.5, 0, 0.5))

    def test_one_run_at_the_limit_is_enough_for_no_alarm(self):
        limit = limit_of([2, 5, 3], 0.5)
        self.assertFalse(is_alarm([90, 8, 90], limit))
        self.assertTrue(is_alarm([90, 8.01, 90], limit))


if __name__ == "__main__":
    unittest.main()
