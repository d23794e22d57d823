# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the lab counts, against what arithmetic says: lines, nodes, phases, arrays, source lines."""

import contextlib
import os
import signal
import subprocess
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

import lab
from traffic_counts import (
    EIGHT,
    FIRST_TOUCH,
    FOUR,
    NODES,
    PROGRAMS,
    TWO,
    Count,
    TrafficTest,
    lines,
)

MACHINES = (TWO, FOUR, EIGHT)

# Of an array of tests/lab/traffic/streams.c.
ARRAY_LINES = (16 << 20) // 64
# Of the last caches of a node's cores.
CACHED_LINES = {FOUR: 2 * lab.OWN_CACHES[-1]["size_bytes"] // 64}
SWEEPS_OF_CHILDREN = 2


class Streams(TrafficTest):
    """Arrays far larger than the modelled caches: every sweep reads every line from memory."""

    # Lines read, and lines written, a sweep; write-allocate reads what is written, too.
    KERNELS = {"copy": (2, 1), "scale": (2, 1), "add": (3, 1), "triad": (3, 1), "load": (2, 0)}
    SWEEPS = 2

    def check(self, kernel: str, machine: str) -> Count:
        read, written = self.KERNELS[kernel]
        counted = self.count(machine, PROGRAMS / "streams", kernel, self.SWEEPS)
        arrays = counted.arrays()
        fills = sum(lines(a, "use") for a in arrays.values())
        self.assert_within(fills, read * self.SWEEPS * ARRAY_LINES, 0.001, f"{kernel}: fills")
        touched = sum(lines(a, "init") for a in counted.document["sites"] if a["name"] in "abc")
        self.assert_within(touched, 3 * ARRAY_LINES, 0.001, f"{kernel}: fills of the first touch")
        both = [counted.document[phase] for phase in ("init", "use")]
        gone = sum(phase["write_backs"] + phase["dirty"] for phase in both)
        # The first touch writes all three arrays.
        wanted = (3 + written * self.SWEEPS) * ARRAY_LINES
        self.assert_within(gone, wanted, 0.05, f"{kernel}: write-backs and dirty lines")
        return counted

    def test_every_kernel_on_four_nodes(self) -> None:
        for kernel in self.KERNELS:
            with self.subTest(kernel):
                self.check(kernel, FOUR)

    def test_a_check_by_one_thread_hides_no_sweep_whenever_it_comes(self) -> None:
        for checks in ((), ("before",), ("between",), ("after",), ("before", "between", "after")):
            with self.subTest(checks):
                counted = self.count(
                    FOUR, PROGRAMS / "streams", "triad", self.SWEEPS, *checks, run=("--bind", "close")
                )
                swept = 3 * (self.SWEEPS + len(checks)) * ARRAY_LINES
                # A sweep finds in eight caches of 256 KiB at most 4 % of it, left by the one before.
                self.assert_within(counted.fills("use"), swept, 0.04, "fills in use")
                # The check's, from the other three nodes' memory.
                share = 0.75 * len(checks) / (self.SWEEPS + len(checks))
                self.assertLess(abs(counted.remote() - share), 0.02)

    def test_two_runs_agree(self) -> None:
        first, second = (self.check("triad", TWO) for _ in range(2))
        self.assert_within(first.fills("use"), second.fills("use"), 0.001, "fills")
        self.assertLess(abs(first.remote() - second.remote()), 0.001)

    def test_streaming_stores_go_past_the_caches(self) -> None:
        counted = self.count(FOUR, PROGRAMS / "streams", "stream", 2)
        streams = sum(counted.document[phase]["streams"] for phase in ("init", "use"))
        self.assert_within(streams, 2 * ARRAY_LINES, 0.001, "lines written past the caches")
        self.assertLess(counted.document["use"]["fills"], 0.01 * ARRAY_LINES)

    def test_objects_add_up_to_the_totals(self) -> None:
        counted = self.check("add", FOUR)
        for phase in ("init", "use"):
            of_objects = sum(lines(site, phase) for site in counted.document["sites"])
            self.assert_within(of_objects, counted.fills(phase), 0.01, phase)
        self.assertEqual(set(counted.arrays()), {"a", "b", "c"})


class FirstTouch(TrafficTest):
    ARGUMENTS = (8, 3)  # MiB an array, sweeps

    def test_usual_is_remote_by_the_number_of_nodes(self) -> None:
        for machine in MACHINES:
            nodes = NODES[machine]
            with self.subTest(machine):
                counted = self.count(machine, FIRST_TOUCH / "first-touch", *self.ARGUMENTS)
                self.assert_within(counted.remote(), (nodes - 1) / nodes, 0.01, machine)
                self.assertEqual(set(counted.arrays()), {f"usual.c:{n}" for n in (16, 17, 18)})

    def test_cured_is_local(self) -> None:
        for machine in MACHINES:
            with self.subTest(machine):
                counted = self.count(machine, FIRST_TOUCH / "first-touch-cured", *self.ARGUMENTS)
                self.assertLess(counted.remote(), 0.005)

    def test_blocked_memory_cures_the_usual_one(self) -> None:
        for machine in MACHINES:
            with self.subTest(machine):
                counted = self.count(
                    machine, FIRST_TOUCH / "first-touch", *self.ARGUMENTS,
                    run=("--memory", "blocked", "--bind", "close"),
                )  # fmt: skip
                self.assertLess(counted.remote(), 0.005)
                # One thread's own writes stay remote under any placement.
                nodes = NODES[machine]
                self.assert_within(counted.remote("init"), (nodes - 1) / nodes, 0.02, machine)


class Names(TrafficTest):
    """The line of the loop, by two compilers in three languages."""

    def expected(self, source: Path, text: str) -> str:
        for number, line in enumerate(source.read_text().splitlines(), 1):
            if text in line:
                return f"{source.name}:{number}"
        raise AssertionError(f"{source} has no line with {text}")

    def test_lines_of_c_cpp_and_fortran(self) -> None:
        for name in ("loop-gcc-c", "loop-gcc-cpp", "loop-clang-c", "loop-clang-cpp", "loop-gcc-f"):
            program = PROGRAMS / name
            if "clang" in name and not program.exists():
                self.fail(f"{program} was not built: is Clang installed?")
            suffix = {"c": "c", "cpp": "cpp", "f": "f90"}[name.rsplit("-", 1)[1]]
            source = lab.ROOT / f"tests/lab/traffic/loop.{suffix}"
            with self.subTest(name):
                counted = self.count(FOUR, program)
                self.assertEqual(counted.line(), self.expected(source, "the loop"))
                self.assertEqual(
                    set(counted.arrays(0.05)), {self.expected(source, "the array")}, name
                )


class Marks(TrafficTest):
    def regions(self, counted: Count) -> dict[str, int]:
        found: dict[str, int] = {}
        for region in counted.document["regions"]:
            found[region["name"]] = found.get(region["name"], 0) + region["fills"]
        return found

    def test_regions_are_charged_the_innermost_first(self) -> None:
        regions = self.regions(self.count(FOUR, PROGRAMS / "marked"))
        self.assertEqual(set(regions), {"outer", "inner"})
        for name in regions:
            self.assert_within(regions[name], 4 * ARRAY_LINES, 0.01, name)

    def test_the_end_of_initialisation_can_be_said(self) -> None:
        said = self.count(FOUR, PROGRAMS / "marked", "use")
        (array,) = (site for site in said.document["sites"] if site["name"] == "array")
        self.assert_within(lines(array, "init"), 4 * ARRAY_LINES, 0.001, "two serial passes")
        self.assert_within(lines(array, "use"), 8 * ARRAY_LINES, 0.001, "four sweeps")

    def test_marks_of_fortran(self) -> None:
        counted = self.count(FOUR, PROGRAMS / "marked-f")
        regions = self.regions(counted)
        self.assertEqual(set(regions), {"from Fortran"})
        self.assert_within(regions["from Fortran"], 4 * ARRAY_LINES, 0.01, "two sweeps")

    def test_outside_the_lab_a_mark_does_nothing(self) -> None:
        for program, sum in (("marked", "3.35544e+07"), ("marked-f", "8388608")):
            done = subprocess.run([PROGRAMS / program], capture_output=True, text=True, check=True)
            self.assertIn(sum, done.stdout)


class WhoIsCounted(TrafficTest):
    def test_noise_beside_the_program_is_not(self) -> None:
        quiet = self.count(FOUR, PROGRAMS / "streams", "triad", 2)
        noisy = self.count(FOUR, PROGRAMS / "noise", PROGRAMS / "streams", "triad", 2)
        self.assert_within(noisy.fills("use"), quiet.fills("use"), 0.005, "fills")
        self.assertLess(noisy.remote(), 0.005)

    def test_children_and_their_threads_are(self) -> None:
        program = f"'{PROGRAMS}/streams' load {SWEEPS_OF_CHILDREN}"
        counted = self.count(FOUR, "sh", "-c", f"{program}; {program} & wait")
        sites = counted.document["sites"]
        ours = {
            (each["pid"], each["object"])
            for each in counted.document["objects"]
            if sites[each["site"]]["name"] in ("a", "b")
        }
        # Each thread's part is on its own node: what a thread read is missing from the memory of one
        # process on one node, where it is a half.
        found: Counter[tuple[int, int]] = Counter()
        for pages in counted.document["pages"]:
            if (pages["pid"], pages.get("object")) in ours:
                found[pages["pid"], pages["node"]] += sum(pages["use"].values())
        self.assertEqual(len(found), 2 * NODES[FOUR], "two processes with memory on each node")
        wanted = 2 * SWEEPS_OF_CHILDREN * ARRAY_LINES // NODES[FOUR]
        # The second process gets pages that the first had, in any order, so that a set of a cache
        # may have so few of them that it keeps them from sweep to sweep: at most what caches hold.
        kept = SWEEPS_OF_CHILDREN * CACHED_LINES[FOUR]
        for (pid, node), fills in found.items():
            with self.subTest(pid=pid, node=node):
                self.assertLessEqual(fills, wanted * 1.005)
                self.assertGreaterEqual(fills, wanted * 0.995 - kept)


class WhatIsMissing(TrafficTest):
    """A crash never looks like a count."""

    def assert_no_count(self, done: subprocess.CompletedProcess[str]) -> None:
        self.assertFalse(self.result.exists())
        self.assertNotIn("Memory traffic", done.stderr)

    def test_a_program_that_is_killed_is_said_to_be(self) -> None:
        done = self.run_counted(FOUR, "sh", "-c", "kill -SEGV $$")
        self.assertEqual(done.returncode, -signal.SIGSEGV)
        self.assertIn("killed: counted until then", done.stderr.splitlines()[0])

    def test_a_program_whose_time_is_up_is_counted_up_to_there(self) -> None:
        for seconds in (4, 16, 64, 256):  # the start of the machine takes its part
            done = self.run_counted(FOUR, "sleep", "1000", run=("--on-timeout", str(seconds)))
            self.assertEqual(done.returncode, 124)
            if "Memory traffic" in done.stderr:
                break
        self.assertIn("killed: counted until then", done.stderr)
        self.assertTrue(self.result.exists())

    def test_a_program_that_does_not_end_then(self) -> None:
        for seconds in (4, 16, 64, 256):  # until it has come to ignoring the signal
            script = "trap '' TERM; touch started; sleep 1000"
            done = self.run_counted(FOUR, "sh", "-c", script, run=("--on-timeout", str(seconds)))
            self.assertEqual(done.returncode, 124)
            if (self.directory / "started").exists():
                break
        self.assertTrue((self.directory / "started").exists())
        self.assert_no_count(done)

    def test_an_emulator_that_dies(self) -> None:
        killer = threading.Thread(target=self.kill_emulator_once_started)
        killer.start()
        done = self.run_counted(FOUR, "sh", "-c", "touch started; sleep 1000")
        killer.join()
        self.assertEqual(done.returncode, 125, done.stderr)
        self.assert_no_count(done)

    def kill_emulator_once_started(self) -> None:
        """What the guest writes to its working directory the host sees at once."""
        deadline = time.monotonic() + 500
        while not (self.directory / "started").exists() and time.monotonic() < deadline:
            time.sleep(0.1)
        mark = f"work,path={self.directory},".encode()
        for process in Path("/proc").glob("[0-9]*"):
            with contextlib.suppress(OSError):  # it has ended meanwhile
                if mark in (process / "cmdline").read_bytes():
                    os.kill(int(process.name), signal.SIGKILL)

    def test_a_program_whose_memory_has_no_names(self) -> None:
        static = self.directory / "static"
        source = lab.ROOT / "tests/lab/traffic/loop.c"
        subprocess.run(["gcc", "-O2", "-static", "-o", static, source], check=True)
        counted = self.count(FOUR, static)
        self.assertEqual([p["pid"] for p in counted.document["programs"]], [0])
        self.assertGreater(counted.fills("init") + counted.fills("use"), ARRAY_LINES)


if __name__ == "__main__":
    unittest.main()
