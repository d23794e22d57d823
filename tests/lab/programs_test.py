# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The programs of patterns.py, counted: the usual form is as remote as the theory says, the cured form
is local where a cure exists, and the arrays that are to blame have the traffic.

    programs_test.py           on four nodes
    programs_test.py --slow    also on two nodes, the kernels, and the older examples
"""

import statistics
import sys
import unittest
from typing import ClassVar

import lab
from batch import Counted, run_batch
from patterns import EARLIER, KERNELS, OTHERS, PROGRAMS, UNPINNED, Form, Program

FOUR, TWO = "4x2", "2x4"
NODES = {FOUR: 4, TWO: 2}
# Of a program's lines in use; the rest is stacks, the libraries' data and the like.
GUILTY_AT_LEAST = 0.9
AGAIN = PROGRAMS[1].cured
NOBODY_TOUCHES_WRONGLY = ("schedule is not the first touch's", "unbalanced work", "false sharing")


class Table(lab.LabTest):
    def count(self, machine: str, forms: list[Form]) -> dict[Form, Counted]:
        commands = [form.words() for form in forms]
        counted = dict(zip(forms, run_batch(machine, commands, self.directory), strict=True))
        for form, each in counted.items():
            self.assertEqual(each.status, 0, form.command)
        return counted

    def check_share(self, machine: str, form: Form, counted: Counted) -> None:
        wanted = form.remote.of(NODES[machine])
        self.assertAlmostEqual(counted.use.share, wanted, delta=form.remote.tolerance)

    def check_guilty(self, program: Program, counted: Counted) -> None:
        """Nearly all remote lines are the guilty objects'."""
        remote = sum(counted.objects[name].remote for name in program.guilty())
        self.assertGreater(remote, GUILTY_AT_LEAST * counted.use.remote)

    def check(self, machine: str, programs: tuple[Program, ...]) -> None:
        """On caches of a core's own: what the cache of a node keeps depends on which of its threads waits."""
        forms = [form for program in programs for form in program.forms()]
        counted = self.count(lab.with_own_caches(machine), forms)
        for program in programs:
            for form in program.forms():
                with self.subTest(form.command, machine=machine):
                    self.check_share(machine, form, counted[form])
            with self.subTest(f"{program.name}'s arrays", machine=machine):
                if not program.by_caller:
                    self.check_guilty(program, counted[program.usual])


class Programs(Table):
    def test_on_four_nodes(self) -> None:
        self.check(FOUR, PROGRAMS)

    def test_threads_that_nobody_pins_find_their_data_by_chance(self) -> None:
        forms = [UNPINNED.usual] * 4
        batch = run_batch(FOUR, [form.words() for form in [*forms, UNPINNED.cured]], self.directory, run=())
        *usual, cured = [each.use.share for each in batch]
        self.assertGreater(statistics.mean(usual), 0.1, usual)
        self.assertLess(cured, 0.01)

    def test_programs_that_come_later_add_nothing_to_one_that_has_ended(self) -> None:
        """The kernel gives its threads' structures to them, and until they tell the counter who they
        are, they read many lines of shared libraries."""
        batch = run_batch(FOUR, [AGAIN.words()] * 5, self.directory)
        for counted in batch:
            self.assertLess(counted.objects[""].all, 0.003 * counted.use.all)


class Marks(unittest.TestCase):
    """What the sources must have for the table to say anything."""

    every: ClassVar = (*PROGRAMS, UNPINNED, *KERNELS, *EARLIER, *OTHERS)

    def test_sources_say_what_is_to_blame(self) -> None:
        for program in self.every:
            with self.subTest(program.name):
                self.assertTrue(program.guilty())
                self.assertTrue(program.uses())
                self.assertTrue(program.touches() or program.pattern in NOBODY_TOUCHES_WRONGLY)


class Slow(Table):
    def test_kernels_on_four_nodes(self) -> None:
        self.check(FOUR, KERNELS)

    def test_on_two_nodes(self) -> None:
        self.check(TWO, PROGRAMS)

    def test_older_examples(self) -> None:
        self.check(FOUR, EARLIER)


if __name__ == "__main__":
    if "--slow" in sys.argv:
        sys.argv.remove("--slow")
    else:
        del Slow
    unittest.main()
