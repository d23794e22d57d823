# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The recorder of page faults on other kernels than the host's: as a user without any right, on
several processors, and where the kernel balances nodes. The tests are those of tests/unit; here none
may be skipped.
"""

import unittest

from lab import BUILD, LabTest, run

RECORDER_TEST = BUILD / "tests/system_test"


BALANCED = "Recorder.WhereTheKernelBalancesNodesAccessesAreSampled"


class Recorder(LabTest):
    def assert_passes(self, tests, balancing):
        result = run(str(RECORDER_TEST), f"--gtest_filter={tests}", options=("--numa-balancing", balancing))
        said = result.stdout.decode()
        self.assertEqual(result.returncode, 0, said + result.stderr.decode())
        self.assertRegex(said, r"\[  PASSED  \] [1-9]")
        self.assertNotIn("SKIPPED", said)

    def test_page_faults_are_recorded_as_on_the_host(self):
        self.assert_passes(f"Recorder.*:*RecorderOf.*:-{BALANCED}", "0")

    def test_hinting_faults_are_samples(self):
        self.assert_passes(BALANCED, "1")


if __name__ == "__main__":
    unittest.main()
