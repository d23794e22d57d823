# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Threads are where --bind, --pin, --places and --smt say, under libgomp and libomp."""

import re
import unittest

from lab import FOUR_NODES, LabTest
from lines import PROBE, PROBE_LLVM, in_guest

# Options, and the processors of each thread; on 4 nodes with 2 cores each.
ON_4X2 = [
    ("--bind close --threads 4", "0 1 2 3"),
    ("--bind spread --threads 4", "0 2 4 6"),
    ("--bind spread --threads 2", "0 4"),
    ("--bind close --threads 3 -N 1,3", "2 3 6"),
    ("--bind spread --threads 3", "0 2 4"),
    ("--bind close", "0 1 2 3 4 5 6 7"),
    ("--bind close --places nodes --threads 3", "0-1 0-1 2-3"),
    ("--bind spread --places nodes --threads 4", "0-1 2-3 4-5 6-7"),
    ("--bind close --places packages --threads 3", "0-1 0-1 2-3"),
    ("--pin 7,0,3", "7 0 3"),
    ("-q --pin 7,0,3 --threads 5", "7 0 3 7 0"),
    ("--pin 7,0,3 --threads 2", "7 0"),
    ("--pin 5,1 --places nodes", "4-5 0-1"),
    ("-N 2 --threads 2", "4-5 4-5"),
    ("-a --bind close --threads 2", "0 1"),
    ("-q --bind close --threads 4 -C 6-7", "6 6 7 7"),
]
# On 2 nodes with 2 cores of 2 hardware threads each: cores 0-1, 2-3 | 4-5, 6-7.
ON_2X2X2 = [
    ("--bind close", "0 2 4 6"),
    ("--bind close --threads 5", "0 1 2 4 6"),
    ("--bind close --smt on", "0 1 2 3 4 5 6 7"),
    ("-q --bind close --smt off --threads 8", "0 0 2 2 4 4 6 6"),
    ("--bind close --places cores", "0-1 2-3 4-5 6-7"),
    ("--bind spread --places cores --threads 2", "0-1 4-5"),
    ("--bind close --places cores --smt on", "0-1 0-1 2-3 2-3 4-5 4-5 6-7 6-7"),
    ("--smt off --threads 2", "0,2,4,6 0,2,4,6"),
    ("-N 1 --smt off --threads 1", "4,6"),
]


def threads(out):
    return " ".join(re.findall(r"^thread \d+ on (\S+)$", out, re.MULTILINE))


class Binding(LabTest):
    def check(self, cases, machine):
        done = in_guest([f"nodewise run {options} -- {probe}" for options, _ in cases for probe in (PROBE, PROBE_LLVM)],
                        machine)
        for k, (options, expected) in enumerate(cases):
            for runtime, result in (("libgomp", done[2 * k]), ("libomp", done[2 * k + 1])):
                with self.subTest(options, runtime=runtime):
                    self.assertEqual(threads(result.out), expected, result)
                    self.assertEqual(result.err, "")

    def test_on_four_nodes(self):
        self.check(ON_4X2, FOUR_NODES)

    def test_threads_of_the_programs_own_making_are_pinned_in_turn(self):
        """The main thread stays where the process may be; the k-th made is at the k-th place."""
        made, too_many = in_guest([f"nodewise run --bind spread --threads 4 -- {PROBE} pthreads 5",
                                   f"nodewise run --pin 6,1 -- {PROBE} pthreads 4"])
        self.assertEqual(threads(made.out).split()[1:], ["0", "2", "4", "6"], made)
        self.assertEqual(threads(too_many.out).split()[1:], ["6", "1", "6"], too_many)

    def test_the_first_pages_are_on_the_node_of_the_first_thread(self):
        """Of eight processors exec takes any idle one. The policy is gone when the program begins."""
        places = ("7,0,3", "2,7,0", "5,1")
        done = in_guest([f"nodewise run --pin {pin} -- cat /proc/self/numa_maps" for pin in places])
        for pin, result in zip(places, done, strict=True):
            with self.subTest(pin):
                (stack,) = re.findall(r"^\S+ (\S+) stack (.*)$", result.out, re.MULTILINE)
                self.assertEqual(stack[0], "default", result)
                node = int(pin[0]) // 2
                pages = {int(n): int(count) for n, count in re.findall(r"N(\d+)=(\d+)", stack[1])}
                self.assertGreaterEqual(pages.get(node, 0), 2, result)  # what exec and the loader touch

    def test_what_the_kernel_is_too_old_for_is_an_error_with_a_cure(self):
        (refused,) = in_guest(["nodewise run -w 0,1 -- echo started"])
        self.assertEqual((refused.status, refused.out), (4, ""), refused)
        self.assertRegex(refused.err, r"set_mempolicy was refused: EINVAL(.|\n)*hint: .*Linux 6\.9")

    def test_on_cores_with_two_hardware_threads(self):
        self.check(ON_2X2X2, self.machine_file("2x2x2"))

    def machine_file(self, name):
        """The normalised file of a machine that is named by its numbers."""
        import subprocess

        from lab import BUILD

        file = self.directory / f"{name}.json"
        described = subprocess.run([BUILD / "bin/nodewise", "lab", "describe", name, "--json"], check=True,
                                   capture_output=True, text=True)
        file.write_text(described.stdout)
        return file


if __name__ == "__main__":
    unittest.main()
