# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The library's containers and loops on a real kernel with four nodes."""

import errno
import re
import subprocess
import unittest
from collections import defaultdict

from lab import BUILD, FOUR_NODES, PYTHON, LabTest

NODEWISE = BUILD / "bin/nodewise"
IN_GUEST = BUILD / "tests/nodewise_library_in_guest"
PRIVILEGED_LAB = BUILD / "tests/privileged_lab/nodewise_lab"
# Enough for the largest of what is in use at a time.
RESERVE = "echo 12 > /sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages"


def in_lab(program) -> str:
    command = [NODEWISE, "run", "--on", "lab:opteron-4x2", "--on-no-count", "--", program]
    done = subprocess.run(command, capture_output=True, text=True, timeout=900, stdin=subprocess.DEVNULL, check=False)
    if done.returncode != 0:
        raise AssertionError(f"{command}: status {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def said(output: str) -> dict[str, list[float]]:
    values = defaultdict(list)
    for runtime, what, value in re.findall(r"^(\S+) (\S+) (-?[\d.]+)$", output, re.MULTILINE):
        values[f"{runtime} {what}"].append(float(value))
    return values


class Library(LabTest):
    def check(self, values: dict[str, list[float]]) -> None:
        for runtime in ("openmp", "tbb"):
            with self.subTest(runtime=runtime):
                for what in ("workers-on-their-node", "values-on-their-node", "array-on-its-owners", "owned", "never",
                             "copies-on-their-node"):
                    self.assertEqual(values[f"{runtime} {what}"], [1.0], what)
                # How much is done at home depends on which emulated processors the host lets run.
                # That nobody leaves home while there is work does not.
                self.assertEqual(values[f"{runtime} early-local-first"], [0.0])
        # It would be noticed: all eight workers begin in the first node's block, six of them strangers.
        self.assertGreaterEqual(values["openmp early-any"][0], 6)
        self.assertEqual(values["resource on-its-node"], [1.0] * 8)
        self.assertEqual(values["runtimes same-pages"], [1.0])
        self.assertEqual(values["program processors-as-before"], [1.0])

    def test_data_and_work_are_on_their_nodes(self):
        values = said(in_lab(IN_GUEST))
        self.check(values)
        self.check_room(values)

    def test_reserved_huge_pages_are_free_again(self):
        command = [PYTHON, "-B", PRIVILEGED_LAB, "run", "--machine", FOUR_NODES, "--"]
        done = subprocess.run([*command, "sh", "-ec", f"{RESERVE}; {IN_GUEST} reserved"], capture_output=True,
                              text=True, timeout=900, stdin=subprocess.DEVNULL, check=False)  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        values = said(done.stdout)
        self.assertEqual(values["reserved unmapped"], [0.0] * 4)
        self.assertEqual(values["reserved left"], [0.0] * 4)
        self.assertGreaterEqual(values["reserved used"][0], 6, "three times 4 MiB")

    def check_room(self, values: dict[str, list[float]]) -> None:
        """As much as the whole node has, of which the kernel and programs have some."""
        self.assertEqual((values["room noted"], values["room resident"]), ([1.0], [1.0]))
        self.assertGreater(values["room on-its-node"][0], 0.5)
        self.assertLess(values["room on-its-node"][0], 1.0)
        self.assertEqual(values["room refused"], [errno.ENOMEM])


if __name__ == "__main__":
    unittest.main()
