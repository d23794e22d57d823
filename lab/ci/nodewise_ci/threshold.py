# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""When a change of remote traffic is an alarm: the limit comes from the spread of the base's runs.

The test is a precedence test (Nelson 1963, "Tables for a precedence life test", Technometrics 5): if nothing has
changed, all runs have the same distribution, and each order of the N runs of the base and the N of the head is equally
likely. So all runs of the head are above all of the base in one case of binomial(2N, N), whatever the distribution is:
1 in 184756 for N = 10. The limit is farther than the highest run of the base, by the spread of the base's runs or the
tolerance, whichever is more, so false alarms are rarer than that.
"""

from collections.abc import Sequence
from dataclasses import dataclass

FEWEST_RUNS = 3  # two runs can agree by chance and have no spread


@dataclass(frozen=True)
class Limit:
    """In percent of the base's traffic, as the runs are."""

    alarm_above: float
    spread: float  # from the lowest to the highest run of the base
    threshold: float  # an increase by more than this many percentage points is found


def limit_of(base: Sequence[float], tolerance: float) -> Limit:
    spread = max(base) - min(base)
    alarm_above = max(base) + max(spread, tolerance)
    # The lowest run of the head is above the limit, even if it is lower than the lowest of the base by the spread.
    return Limit(alarm_above, spread, alarm_above - min(base) + spread)


def is_alarm(head: Sequence[float], limit: Limit) -> bool:
    """All runs of the head are above the limit, so that one run that went wrong is no alarm."""
    return min(head) > limit.alarm_above
