# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Who wins where settings contradict each other: what `run` claims, held against the runtimes.

Each case is a set of variables, where the threads of a team of four then really are under libgomp and
under libomp, and a part of the warning that `nodewise run` prints for it.
"""

import re
import unittest

from lab import LabTest
from lines import PROBE, PROBE_LLVM, in_guest

FREE = "0-7 0-7 0-7 0-7"
CASES = [
    # variables, libgomp, libomp, the warning
    ("OMP_PLACES='{7},{6},{5},{4}' OMP_PROC_BIND=false", FREE, FREE, "no thread is bound"),
    ("OMP_PLACES='{7},{6},{5},{4}' KMP_AFFINITY=scatter", "7 6 5 4", "0 2 4 6", "libomp follows KMP_AFFINITY only"),
    ("OMP_PLACES='{7},{6},{5},{4}' KMP_AFFINITY=noverbose", "7 6 5 4", "7 6 5 4", ""),
    ("OMP_PROC_BIND=close KMP_AFFINITY=none", "0 1 2 3", FREE, "libgomp follows OMP_PROC_BIND"),
    ("GOMP_CPU_AFFINITY='3 2 1 0' OMP_PLACES='{7},{6},{5},{4}'", "7 6 5 4", "3 2 1 0",
     "libgomp follows OMP_PLACES, libomp follows GOMP_CPU_AFFINITY"),
    ("GOMP_CPU_AFFINITY='3 2 1 0' OMP_PROC_BIND=false", FREE, "3 2 1 0", "libgomp binds no thread"),
    ("GOMP_CPU_AFFINITY='3 2 1 0' OMP_PROC_BIND=close", "3 2 1 0", "3 2 1 0", ""),
    ("GOMP_CPU_AFFINITY='3 2 1 0' KMP_AFFINITY=scatter", "3 2 1 0", "0 2 4 6",
     "libomp follows KMP_AFFINITY, libgomp follows GOMP_CPU_AFFINITY"),
    ("KMP_HW_SUBSET=1s,1c OMP_PLACES='{0},{1},{2},{3}'", "0 1 2 3", "0 0 0 0", "drops places outside the subset"),
    ("OMP_THREAD_LIMIT=2", "0-7 0-7", "0-7 0-7", "start 2 threads"),
]
# The same within an affinity of the first four processors.
NARROW = [
    ("OMP_PLACES='{0},{1},{4},{5}' OMP_PROC_BIND=close", "0 0 1 1", "0 0 1 1", "drop the processors that are not allowed"),
    ("OMP_PLACES='{4},{5},{6},{7}'", "0-3 0-3 0-3 0-3", "0-3 0-3 0-3 0-3", "ignore the whole list"),
    ("GOMP_CPU_AFFINITY=2-5", "2 3 4 5", "2 3 2 3", "libgomp pins threads outside this affinity"),
    ("KMP_AFFINITY='explicit,proclist=[2-5]'", "0-3 0-3 0-3 0-3", "2 3 2 3", "libomp drops the processors"),
    ("KMP_AFFINITY='proclist=[4,{5,6}]'", "0-3 0-3 0-3 0-3", "0-3 0-3 0-3 0-3", "libomp ignores the whole list"),
    ("OMP_PROC_BIND=true OMP_NUM_THREADS=8", "0 0 1 1 2 2 3 3", "0 0 1 1 2 2 3 3", "threads take turns on 4 processors"),
]


def threads(out):
    return " ".join(re.findall(r"^thread \d+ on (\S+)$", out, re.MULTILINE))


class Winners(LabTest):
    def check(self, cases, before):
        start = [f"OMP_NUM_THREADS=4 {variables} {before}" for variables, *_ in cases]
        gomp = in_guest([f"{each} {PROBE}" for each in start] + [f"{each} {PROBE_LLVM}" for each in start]
                        + [f"{each} nodewise run true" for each in start])
        count = len(cases)
        for k, (variables, libgomp, libomp, warning) in enumerate(cases):
            with self.subTest(variables):
                self.assertEqual(threads(gomp[k].out), libgomp, gomp[k])
                self.assertEqual(threads(gomp[count + k].out), libomp, gomp[count + k])
                said = gomp[2 * count + k]
                self.assertEqual(said.status, 0, said)
                self.assertEqual(said.err.count("nodewise:"), 1 if warning else 0, said.err)
                self.assertIn(warning, said.err)

    def test_between_runtimes(self):
        self.check(CASES, "env")

    def test_outside_the_affinity(self):
        self.check(NARROW, "taskset -c 0-3")

    def test_nothing_is_left_to_contradict_where_threads_are_bound(self):
        variables = "OMP_PLACES='{7},{6}' OMP_PROC_BIND=false KMP_AFFINITY=scatter GOMP_CPU_AFFINITY=0-3 KMP_HW_SUBSET=1s"
        for bound in in_guest([f"{variables} nodewise run -q --bind spread --threads 4 {probe}"
                               for probe in (PROBE, PROBE_LLVM)]):
            self.assertEqual(threads(bound.out), "0 2 4 6", bound)


if __name__ == "__main__":
    unittest.main()
