# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Every line of docs/other-tools.md runs, on a machine of 4 nodes, and does what the page writes beside it."""

import re
import unittest

from lab import LabTest
from lines import in_guest, own_lines, with_probe

# What a line prints; for lines of the probe, on which processors and by which policy it runs.
PRINTS = {
    "nodewise run -H": r"available: 4 nodes \(0-3\)",
    "nodewise run -s": r"policy: default",
    "nodewise run -N 0 -m 0 ./a": r"(?s)cpus 0-1\n.*policy.* 0\n",
    # Pages of files are on the nodes of the programs that read them first, so there may be other columns.
    "nodewise pages --totals PID": r"node 0 .*total\n(?s:.*)Heap +[\d.]+",
    "nodewise pages --migrate 0:1 PID": r"moved|migrated",
    "nodewise run --memory blocked --bind close ./a": r"cpus ",
    "nodewise run --rule 'size>=1M:cyclic:64K' ./a": r"cpus 0-7\n",
    "nodewise run --verify --memory blocked --bind close ./a": r"cpus ",
    "nodewise topo": r"N3|node 3|P#3",
    "nodewise run -c S0:0-1 ./a": r"cpus 0\n",
    "nodewise measure -t copy -w S0:1MB:2": r"copy +[\d.]+",
    "nodewise topo --xml": r'<object type="NUMANode" os_index="3"',
    "nodewise run -C package:1.core:0 ./a": r"cpus 2\n",
}
# A process with memory on node 0. Before it is sleep, it is a copy of the shell, which has a heap, too.
PROCESS = (
    "numactl -m 0 sleep 300 & pid=$!; "
    "until grep -q sleep /proc/$pid/comm && grep -q heap /proc/$pid/maps; do sleep 0.05; done"
)


def runnable(line):
    """The page's line as a shell can run it: a program instead of ./a, and a process instead of PID."""
    if line.endswith(" PID"):
        return f"{PROCESS}; {line.removesuffix('PID')} $pid; status=$?; kill $pid; exit $status"
    return with_probe(line, "none")


class OtherTools(LabTest):
    def test_every_line_runs(self):
        lines = list(dict.fromkeys(own_lines("other-tools.md")))  # some are beside several tools
        self.assertEqual(lines, list(PRINTS))
        for line, done in zip(lines, in_guest([runnable(line) for line in lines]), strict=True):
            with self.subTest(line):
                self.assertEqual(done.status, 0, done)
                self.assertTrue(re.search(PRINTS[line], done.out), done)


if __name__ == "__main__":
    unittest.main()
