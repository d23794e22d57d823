# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The tables of docs/run.md: the line of the other tool and ours do the same, on a machine of 4 nodes.

A probe prints the processors of its process, its memory policy and the processors of each thread.
"""

import re
import unittest

from lab import LabTest
from lines import in_guest, tables, with_probe


def facts(out, names):
    """The probe's lines that begin with one of the names."""
    return [line for line in out.splitlines() if line.startswith(names)]


def comparable(out):
    """Line by line its words: the width of columns changed between numactl's versions. Free memory changes, and the
    node whose turn is next under an interleaving policy is that of the page which the program happens to touch next.
    """
    out = re.sub(r"(node \d+ free:) .*", r"\1", out)
    out = re.sub(r"(preferred node:) \d+ (\(interleave next\))", r"\1 \2", out)
    out = re.sub(r"(interleavenode:) \d+", r"\1", out)
    return [line.split() for line in out.splitlines()]


class Lines(LabTest):
    def pairs(self, heading, mode=""):
        """What their line and ours came to, for each row of a table."""
        rows = tables(heading)
        done = in_guest([with_probe(line, mode) for row in rows for line in row])
        for result in done:
            self.assertEqual(result.status, 0, result)
        return list(zip(done[::2], done[1::2], strict=True))

    def compare(self, heading, mode, names):
        for theirs, ours in self.pairs(heading, mode):
            with self.subTest(theirs.line):
                self.assertEqual(facts(ours.out, names), facts(theirs.out, names), ours.line)
                self.assertNotEqual(facts(ours.out, names), [])
                self.assertEqual(ours.err, "")

    def test_numactl(self):
        for theirs, ours in self.pairs("numactl", "none"):
            with self.subTest(theirs.line):
                self.assertEqual(comparable(ours.out), comparable(theirs.out), ours.line)
                self.assertNotEqual(ours.out, "")
                self.assertEqual(ours.err, "")

    def test_taskset(self):
        self.compare("taskset", "none", ("cpus", "policy"))

    def test_hwloc_bind(self):
        self.compare("hwloc-bind", "none", ("cpus", "policy"))

    def test_likwid_pin(self):
        self.compare("likwid-pin", "openmp", ("thread",))

    def test_openmp_variables(self):
        self.compare("OpenMP's variables", "openmp", ("thread",))


if __name__ == "__main__":
    unittest.main()
