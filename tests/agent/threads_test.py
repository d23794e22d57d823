# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Threads under the agent: promises of the C library hold, and threads are where they were sent."""

import os
import pathlib
import subprocess
import tempfile
import unittest

import agent_report
from agent_report import MAIN, OWN_AFFINITY, PINNED

BUILD = pathlib.Path(os.environ["NODEWISE_BUILD"])
AGENT = BUILD / "lib/nodewise/libnodewise-agent.so"
PROGRAMS = BUILD / "tests/agent"

CPUS = sorted(os.sched_getaffinity(0))
FIRST, LAST = str(CPUS[0]), str(CPUS[-1])
PLACES = f"pin={FIRST}|{LAST}"
NOWHERE = "8191"


def run(command, settings=None, **options):
    env = dict(os.environ)
    if settings is not None:
        env |= {"LD_PRELOAD": str(AGENT), "NODEWISE_AGENT": f"v3;threshold=1048576;{settings}"}
    return subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True, timeout=580,
                          check=False, **options)


def reported(command, settings):
    """What the program printed, and what the agent reported."""
    with tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
        agent_report.reserve(file.name)
        done = run(command, f"{settings};report={file.name}")
        assert (done.returncode, done.stderr) == (0, ""), done
        return done.stdout, agent_report.read(pathlib.Path(file.name).read_bytes())


def lines(output):
    return [line.split(" ", 1)[1] for line in output.splitlines()]


class Promises(unittest.TestCase):
    def expect_ok(self, command, settings=None):
        done = run(command, settings)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ok\n", ""))

    def test_hold_without_the_agent(self):
        self.expect_ok([PROGRAMS / "thread_promises"])
        self.expect_ok([PROGRAMS / "openmp_doors"])

    def test_hold_with_threads_left_alone_pinned_and_refused(self):
        for settings in ("quiet", PLACES, f"pin={NOWHERE}", f"pin={NOWHERE}|{FIRST}", "pin=", "pin=|"):
            with self.subTest(settings=settings):
                self.expect_ok([PROGRAMS / "thread_promises"], settings)

    def test_hold_with_a_report(self):
        output, report = reported([PROGRAMS / "thread_promises"], PLACES)
        self.assertEqual(output, "ok\n")
        self.assertGreater(len(report.ends), 4)
        self.assertTrue(all(end.pin_errno == 0 for end in report.ends))

    def test_arguments_pass_the_doors_of_openmp_as_they_are(self):
        self.expect_ok([PROGRAMS / "openmp_doors"], "quiet")

    @unittest.skipUnless((PROGRAMS / "openmp_regions").exists(), "built by another compiler than GCC")
    def test_every_door_of_gccs_openmp_leads_into_a_region(self):
        for settings in (None, "quiet", PLACES):
            self.expect_ok([PROGRAMS / "openmp_regions"], settings)


class Places(unittest.TestCase):
    def test_the_kth_thread_is_on_the_kth_place_from_its_first_instruction(self):
        for command in ([PROGRAMS / "thread_places", "posix", 5], [PROGRAMS / "thread_places", "c11", 5],
                        [PROGRAMS / "std_threads", 5]):
            with self.subTest(command=command):
                output, report = reported(command, PLACES)
                self.assertEqual(lines(output), [FIRST, LAST, FIRST, LAST, FIRST])
                self.assertEqual(report.ends[0].own_threads, report.ends[0].pinned)
                self.assertEqual((report.ends[0].own_affinity, report.ends[0].pin_errno), (0, 0))

    def test_a_main_thread_that_works_has_the_first_place(self):
        output, report = reported([PROGRAMS / "thread_places", "teams", 2], f"{PLACES};main")
        self.assertEqual(lines(output), [FIRST, LAST] * 2)
        main = next(thread for thread in report.threads if thread.flags & MAIN)
        self.assertEqual((main.flags, main.cpus), (MAIN | PINNED, FIRST))
        self.assertEqual(main.last_cpu, int(FIRST))
        self.assertGreaterEqual(main.busy_ms, 0)
        self.assertEqual((report.ends[0].own_threads, report.ends[0].pinned), (2, 2))

    def test_a_main_thread_that_waits_is_left_alone(self):
        output, _ = reported([PROGRAMS / "thread_places", "teams", 2], PLACES)
        everywhere = ",".join(map(str, CPUS))
        self.assertEqual(lines(output), [everywhere, FIRST, everywhere, LAST])  # one alone is no team

    def test_threads_behind_others_that_were_joined_have_their_places(self):
        output, report = reported([PROGRAMS / "thread_places", "teams", 4], PLACES)
        self.assertEqual(lines(output)[1:4] + lines(output)[5:], [FIRST, LAST, FIRST] * 2)
        self.assertEqual(sorted(thread.ordinal for thread in report.threads if thread.ordinal >= 0), [0, 0, 1, 1, 2, 2])

    def test_trace_mode_records_threads_that_have_ended(self):
        _, report = reported([PROGRAMS / "thread_places", "posix", 3], "observe;trace")
        self.assertEqual(sorted(thread.ordinal for thread in report.threads if thread.ordinal >= 0), [0, 1, 2])
        _, report = reported([PROGRAMS / "thread_places", "posix", 3], "observe")
        self.assertEqual([thread for thread in report.threads if thread.ordinal >= 0], [])

    def test_a_place_may_be_several_processors(self):
        output, report = reported([PROGRAMS / "thread_places", "staying", 2],
                                  f"pin={FIRST}-{LAST}|{LAST},{FIRST}")
        self.assertEqual(lines(output), [",".join(map(str, CPUS)), ",".join(sorted({FIRST, LAST}, key=int))])
        self.assertEqual(report.ends[0].pinned, 2)

    def test_without_places_threads_are_left_alone(self):
        output, report = reported([PROGRAMS / "thread_places", "posix", 3], "quiet")
        self.assertEqual(set(lines(output)), {",".join(map(str, CPUS))})
        self.assertEqual((report.ends[0].own_threads, report.ends[0].pinned), (3, 0))

    def test_a_refused_place_costs_no_thread_and_is_reported(self):
        output, report = reported([PROGRAMS / "thread_places", "posix", 4], f"pin={NOWHERE}|{FIRST}")
        anywhere = ",".join(map(str, CPUS))
        self.assertEqual(lines(output), [anywhere, FIRST, anywhere, FIRST])
        end = report.ends[0]
        self.assertEqual((end.own_threads, end.pinned, end.pin_errno), (4, 2, 22))

    def test_after_fork_counting_begins_anew(self):
        output, report = reported([PROGRAMS / "thread_places", "child", 3], f"pin={LAST}|{FIRST}")
        self.assertEqual(lines(output), [LAST, LAST, FIRST, LAST])
        self.assertEqual(sorted(end.own_threads for end in report.ends), [1, 3])

    def test_the_programs_own_affinity_wins_and_is_told(self):
        for mode, pinned in (("binding", PINNED), ("bound-by-main", PINNED), ("attributes", 0)):
            with self.subTest(mode=mode):
                _, report = reported([PROGRAMS / "thread_places", mode, 3], f"pin={FIRST}")
                workers = [thread for thread in report.threads if thread.ordinal >= 0]
                self.assertEqual([(thread.flags, thread.cpus) for thread in workers],
                                 [(pinned | OWN_AFFINITY, LAST)] * 3)
                self.assertEqual(report.ends[0].own_affinity, 3)

    def test_the_programs_own_affinity_is_told_where_nothing_is_pinned(self):
        for mode in ("binding", "bound-by-main", "attributes"):
            with self.subTest(mode=mode):
                _, report = reported([PROGRAMS / "thread_places", mode, 3], "quiet")
                self.assertEqual((report.ends[0].pinned, report.ends[0].own_affinity), (0, 3))

    @unittest.skipUnless((PROGRAMS / "openmp_regions").exists(), "built by another compiler than GCC")
    def test_a_runtimes_threads_are_its_own(self):
        output, report = reported([PROGRAMS / "openmp_regions", "where"], f"pin={FIRST}")
        self.assertEqual(lines(output), [str(len(CPUS))] * 3)
        self.assertEqual((report.ends[0].own_threads, report.ends[0].pinned), (0, 0))
        pool = [thread for thread in report.threads if not thread.flags & MAIN]
        self.assertEqual([thread.start[:8] for thread in pool], ["libgomp."] * 2)
        self.assertEqual([thread.ordinal for thread in pool], [-1, -1])
        self.assertTrue(all(thread.busy_ms >= 0 and thread.last_cpu in CPUS for thread in pool), pool)

    @unittest.skipUnless((PROGRAMS / "openmp_regions").exists(), "built by another compiler than GCC")
    def test_threads_of_inner_teams_have_their_numbers(self):
        _, report = reported([PROGRAMS / "openmp_regions", "nested"], "observe;trace")
        inner = [thread.nested for thread in report.threads if thread.nested]
        outer = [thread for thread in report.threads if not thread.nested]
        # Of 12 threads the first of each inner team is of the outer one.
        behind = [number for number in range(12) if number % 4 != 0]
        self.assertEqual(sorted(inner), sorted([(number, [3, 4]) for number in behind] * 2))
        self.assertEqual(len(outer), 3)


class Records(unittest.TestCase):
    def check(self, report, count):
        main, *workers = report.threads
        self.assertEqual((main.tid, main.flags, main.ordinal), (main.pid, MAIN, -1))
        self.assertEqual([thread.ordinal for thread in workers], list(range(count)))
        self.assertEqual([thread.name for thread in workers], [f"worker-{i}" for i in range(count)])
        self.assertEqual({thread.start for thread in workers}, {"thread_places"})
        self.assertEqual([thread.cpus for thread in workers], [(FIRST, LAST)[i % 2] for i in range(count)])
        self.assertEqual({thread.flags for thread in workers}, {PINNED})

    def test_threads_that_live_and_threads_that_have_ended(self):
        for mode in ("staying", "posix"):
            with self.subTest(mode=mode):
                self.check(reported([PROGRAMS / "thread_places", mode, 6], PLACES)[1], 6)

    def test_a_thread_that_has_ended_while_the_kernel_still_lists_it_has_one_record(self):
        self.check(reported([PROGRAMS / "thread_places", "lingering", 6], PLACES)[1], 6)

    def test_threads_of_the_cxx_library_begin_in_it(self):
        _, report = reported([PROGRAMS / "std_threads", 2], PLACES)
        starts = {thread.start for thread in report.threads if thread.ordinal >= 0}
        self.assertEqual(len(starts), 1)
        self.assertRegex(starts.pop(), r"^libstdc\+\+\.so|^libc\+\+\.so")

    def test_ten_thousand_threads_leave_nothing_behind(self):
        output, report = reported([PROGRAMS / "thread_places", "short-lived", 10000], PLACES)
        self.assertLess(int(output.split()[1]), 512)  # KiB, over the second half
        self.assertEqual((report.ends[0].own_threads, report.ends[0].pinned), (10000, 10000))
        self.assertLessEqual(len(report.threads), 1 + 1024)


if __name__ == "__main__":
    unittest.main()
