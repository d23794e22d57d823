# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the agent records of a program in trace mode, and that the program does not notice."""

import collections
import os
import pathlib
import subprocess
import tempfile
import unittest

import agent_report
from agent_report import GROUP, HEAP, LIVE_AT_END, MAP, NO_SEQUENCE, NOT_ASKED, REGION, RUNS_CUT, STATIC

BUILD = pathlib.Path(os.environ["NODEWISE_BUILD"])
LIBRARIES = BUILD / "lib/nodewise"
PRELOADED = f"{LIBRARIES}/libnodewise-agent.so:{LIBRARIES}/libnodewise-trace.so"
PROGRAMS = BUILD / "tests/agent"
TRACE = "v3;threshold=1048576;group=256;observe;trace"
MIB = 1 << 20
PAGE = os.sysconf("SC_PAGESIZE")


def run(command, settings=None, **options):
    env = dict(os.environ)
    if settings is not None:
        env |= {"LD_PRELOAD": PRELOADED, "NODEWISE_AGENT": settings}
    return subprocess.run([str(word) for word in command], env=env, capture_output=True, text=True, timeout=580,
                          check=False, **options)


class TraceTest(unittest.TestCase):
    def setUp(self):
        folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="nodewise-report-")))
        self.file, self.maps = folder / "report", folder / "maps"

    def traced(self, *command, status=0):
        """What the program printed, and what the agent reported."""
        agent_report.reserve(self.file)
        done = run(command, f"{TRACE};report={self.file}")
        self.assertEqual((done.returncode, done.stderr), (status, ""))
        return done.stdout, agent_report.read(self.file.read_bytes())


class Allocations(TraceTest):
    def of(self, case, status=0):
        return self.traced(PROGRAMS / "traced", case, status=status)

    def test_objects_tell_when_where_and_by_whom_they_were_made(self):
        output, report = self.of("places")
        (start,), (end,) = report.starts, report.ends
        self.assertEqual(start.parent, os.getpid())
        self.assertEqual(end.left_out, {"objects": 0, "lost": 0, "allocations": 0, "stacks": 0, "writes": 0, "no_memory": 0})
        self.assertEqual(len(report.objects), end.objects)
        self.assertEqual(end.objects, 1 + 2 + 100 + 1 + 1)
        numbers = {each.number for each in report.stacks}
        makers = set()
        for each in report.objects:
            self.assertLess(start.time_ns, each.allocated_ns)
            self.assertLess(each.allocated_ns, each.freed_ns)
            self.assertEqual(each.start % PAGE, 0)
            self.assertIn(each.stack, {0} if each.kind == STATIC else numbers)
            makers.add(each.maker)
            (allocation,) = [allocation for allocation in report.allocations if allocation.sequence == each.sequence]
            self.assertEqual((allocation.start, allocation.bytes, allocation.kind, allocation.stack, allocation.tid, allocation.time_ns, allocation.name),
                             (each.start, each.bytes, each.kind, each.stack, each.maker, each.allocated_ns, each.name))
        self.assertEqual(len(makers), 2)
        self.assertEqual(len([each for each in report.objects if each.maker != start.pid]), 1)
        kinds = [each.kind for each in report.objects]
        self.assertEqual((kinds.count(HEAP), kinds.count(MAP), kinds.count(STATIC)), (103, 1, 1))
        told = [each for each in report.objects if not each.flags & NOT_ASKED]
        self.assertTrue(all(each.runs[0][0] == 0 for each in told if each.kind == HEAP), "the first page")
        self.assertGreaterEqual(len(told), 64)
        self.assertTrue(all(each.runs == [] and each.resident == 0 for each in report.objects if each not in told))

    def test_single_blocks_from_16_kib_on_are_objects_of_their_own(self):
        _, report = self.of("alone")
        sizes = collections.Counter(each.bytes >> 10 for each in report.objects if each.kind == HEAP)
        self.assertEqual([sizes[size] for size in (20, 24, 40)], [1, 1, 1], "allocated, aligned, grown twice")
        self.assertTrue(1 <= sizes[30] <= 256, "of a site that asks again and again not all")

    def test_a_stack_can_be_unwound_from_the_agent_to_main(self):
        output, report = self.of("places")
        self.maps.write_text(output)
        done = subprocess.run([PROGRAMS / "unwind", self.file, self.maps], capture_output=True, text=True, check=True)
        chains = {}
        for line in done.stdout.splitlines():
            number, names = line.split(":")
            chains[int(number)] = names.split()
        self.assertEqual(set(chains), {each.number for each in report.stacks})
        seen = []
        for chain in chains.values():
            self.assertRegex(chain[0], "tell_stack")
            # Sanitizers put a malloc of their own in front.
            # The agent also runs a thread's function.
            ours = [i for i, name in enumerate(chain) if "nodewise" in name and "run_known" not in name]
            at = max(ours + [chain.index(name) for name in ("malloc", "mmap") if name in chain])
            seen.append(tuple(chain[at + 1:]))
        made = {chain[:chain.index("places") + 1] for chain in seen if "places" in chain}
        self.assertEqual(made, {("wrapper", "make_matrix", "places"), ("wrapper", "make_vector", "places"),
                                ("wrapper", "make_after", "places"), ("places",)})
        self.assertTrue(all("main" in chain and chain[-1] == "_start" for chain in seen if "places" in chain), seen)
        (thread,) = [chain for chain in seen if "places" not in chain]
        self.assertEqual(thread[:3], ("wrapper", "make_matrix", "in_thread"))
        self.assertIn("start_thread", thread)

    def test_a_place_has_one_stack_however_often_it_asks(self):
        _, report = self.of("places")
        of_object = [each.stack for each in sorted(report.objects, key=lambda each: each.sequence) if each.kind == HEAP]
        # What an unused part of the stack still has of earlier calls may make it another one.
        self.assertLessEqual(len(set(of_object[2:102])), 3)
        for each in report.stacks:
            self.assertLessEqual(each.ip and each.sp + len(each.bytes), each.end)
            self.assertIn(each.caller.to_bytes(8, "little"), each.bytes)

    def test_pages_are_told_in_runs_as_far_as_there_is_room(self):
        _, report = self.of("holes")
        few, many = [each for each in report.objects if each.kind == HEAP]
        self.assertEqual(few.runs, [(page, 1, 0) for page in range(0, 8 * MIB // PAGE, 2)])
        self.assertFalse(few.flags & RUNS_CUT)
        self.assertEqual(len(many.runs), 4096)
        self.assertEqual(many.runs[-1], (2 * 4095, 1, 0))
        self.assertTrue(many.flags & RUNS_CUT)
        self.assertEqual(many.resident, 64 * MIB // PAGE // 2)

    def test_an_object_that_moves_is_told_again(self):
        output, report = self.of("moves")
        first, _, again = [each for each in report.allocations if each.kind == HEAP]
        self.assertEqual((again.sequence, again.bytes, again.start), (first.sequence, 64 * MIB, int(output, 16)))
        self.assertNotEqual(again.start, first.start)
        self.assertEqual((again.stack, again.tid), (first.stack, first.tid))
        self.assertLess(first.time_ns, again.time_ns)

    def test_a_group_is_born_when_its_site_makes_it(self):
        _, report = self.of("rows")
        (group,) = [each for each in report.objects if each.kind == GROUP]
        (allocation,) = [each for each in report.allocations if each.kind == GROUP]
        (thread,) = [each for each in report.objects if each.maker != group.pid]
        self.assertEqual(group.maker, group.pid)
        self.assertLess(group.allocated_ns, thread.allocated_ns)
        self.assertEqual((allocation.stack, allocation.time_ns), (group.stack, group.allocated_ns))
        self.assertIn(group.stack, [each.number for each in report.stacks])

    def test_arrays_of_the_library_are_its_regions(self):
        output, report = self.traced(PROGRAMS / "library_arrays")
        kept, gone = (int(word, 16) // PAGE * PAGE for word in output.split())
        regions = {each.start: each for each in report.objects if each.kind == REGION}
        self.assertEqual(set(regions), {kept, gone})
        for start, wanted in ((kept, 3 * MIB), (gone, 2 * MIB)):
            self.assertIn(regions[start].bytes - wanted, (0, PAGE))  # arrays begin at different lines of a page
        numbers = {each.number for each in report.stacks}
        for start, each in regions.items():
            self.assertIn(each.stack, numbers)
            self.assertEqual(each.flags & LIVE_AT_END != 0, start == kept)

    def test_a_program_that_is_killed_has_its_births(self):
        _, report = self.of("killed", status=-9)
        self.assertEqual(report.ends, [])
        self.assertEqual(len([each for each in report.allocations if each.kind == HEAP]), 2)
        self.assertEqual(len(report.stacks), 2)
        self.assertEqual(len(report.objects), 1)

    def test_so_has_one_that_becomes_another(self):
        _, report = self.of("replaced")
        self.assertEqual(len([each for each in report.allocations if each.kind == HEAP]), 1)
        self.assertEqual([each.program for each in report.starts], ["traced", "true"])

    def test_a_child_tells_what_is_its_own(self):
        output, report = self.of("child")
        child = report.of(int(output))
        self.assertEqual(child.starts[0].parent, report.starts[0].pid)
        self.assertEqual([(each.sequence, each.bytes) for each in child.allocations], [(0, 2 * MIB)])
        self.assertEqual([each.bytes for each in child.objects], [2 * MIB])
        self.assertEqual([each.number for each in child.stacks], [child.allocations[0].stack])

    def test_there_is_an_end_to_it(self):
        _, report = self.of("many")
        (end,) = report.ends
        self.assertEqual(end.objects, 20001)
        self.assertEqual(len(report.allocations) + end.left_out["allocations"], end.objects)
        self.assertEqual(len(report.allocations), 16384)
        self.assertEqual(len(report.objects) + end.left_out["objects"], end.objects)


class Rows(TraceTest):
    """Rows that are allocated one by one are one array, whatever their size."""

    def test_of_each_size_have_a_name(self):
        settings = "v3;threshold=131072;group=16;observe;trace"
        for row_bytes in (16, 112, 216, 1 << 10, 12 << 10, 56 << 10, 110 << 10):
            with self.subTest(row_bytes=row_bytes):
                count = (4 * MIB) // row_bytes
                agent_report.reserve(self.file)
                done = run([PROGRAMS / "rows", row_bytes, count], f"{settings};report={self.file}")
                self.assertEqual((done.returncode, done.stderr), (0, ""))
                groups = [each for each in agent_report.read(self.file.read_bytes()).objects if each.kind == GROUP]
                # A site is known as one of many blocks after 16 KiB and two blocks.
                unknown = max(16 << 10, row_bytes) * 1.05
                least = 2 * row_bytes * count - unknown
                self.assertGreaterEqual(sum(each.bytes for each in groups if each.bytes > MIB), least)
                self.assertEqual(len([each for each in groups if each.bytes > MIB]), 2, "one an array")

    def test_are_all_in_the_group_that_a_rule_names(self):
        count, rows = 40, [PROGRAMS / "rows", 56 << 10, 40]
        agent_report.reserve(self.file)
        run(rows, f"v3;threshold=131072;group=16;observe;trace;report={self.file}")
        groups = [each for each in agent_report.read(self.file.read_bytes()).objects if each.kind == GROUP]
        self.assertEqual([each.blocks for each in groups], [count, count])
        row = (56 << 10) + 16
        first, whole = ([each.resident * PAGE for each in groups])
        self.assertLessEqual(abs(whole - first - row), 2 * PAGE, "nobody had named the first one's: its first row is elsewhere")
        code = f"code=rows+{groups[0].caller_offset - 1}-{groups[0].caller_offset}"
        agent_report.reserve(self.file)
        run(rows, f"v3;threshold=131072;group=16;rule=kind=group,least=1,{code}:local;report={self.file}")
        groups = [each for each in agent_report.read(self.file.read_bytes()).objects if each.kind == GROUP]
        self.assertEqual([each.blocks for each in groups], [count, count])


class Writes(TraceTest):
    def check(self, program, case):
        """The records are those that the program says, in the order of their places; returns them."""
        output, report = self.traced(PROGRAMS / program, case)
        wanted = [(int(start, 16), int(first), int(last)) for start, first, last in map(str.split, output.splitlines())]
        found = [(each.start, each.first, each.last) for each in report.writes]
        self.assertEqual(sorted(found), sorted(wanted))
        self.assertEqual(report.ends[0].left_out["writes"], 0)
        for each in report.writes:
            self.assertEqual(each.module, program)
            self.assertIn(each.stack, [stack.number for stack in report.stacks])
            self.assertLessEqual(each.first_ns, each.last_ns)
        return report

    def test_every_function_that_reads(self):
        for program in ("reads", "reads_fortified"):
            for case in ("read", "pread", "vectors", "fread", "sockets"):
                with self.subTest(program=program, case=case):
                    report = self.check(program, case)
                    (big,) = [each for each in report.objects if each.bytes == 4 * MIB]
                    self.assertEqual({each.sequence for each in report.writes}, {big.sequence})

    def test_calls_that_go_on_are_one(self):
        report = self.check("reads", "read")
        self.assertEqual([(each.calls, each.bytes) for each in report.writes], [(1, PAGE), (512, 2 * MIB)])
        (each,) = self.check("reads", "again").writes
        self.assertEqual((each.calls, each.bytes), (1000, 1000 * MIB))
        self.assertEqual([each.calls for each in self.check("reads", "in_turn").writes], [64] * 4)

    def test_what_is_no_object_is_not_told(self):
        self.check("reads", "elsewhere")

    def test_threads_tell_for_themselves(self):
        report = self.check("reads", "threads")
        self.assertEqual(len({each.tid for each in report.writes}), 3)
        report = self.check("reads", "many_threads")
        self.assertEqual(len({each.tid for each in report.writes}), 2000)

    def test_a_thread_may_be_cancelled_while_it_reads(self):
        self.check("reads", "cancelled")

    def test_a_handler_may_read(self):
        _, report = self.traced(PROGRAMS / "reads", "in_handler")
        self.assertTrue(all((each.first, each.last) in ((0, PAGE), (2 * MIB, 2 * MIB + PAGE)) for each in report.writes))
        self.assertLessEqual(report.ends[0].left_out["writes"], 3000)
        self.assertNotEqual(report.writes, [])

    def test_blocks_of_a_group_are_known_by_their_arena(self):
        output, report = self.traced(PROGRAMS / "reads", "rows")
        start, _, last = output.split()
        (each,) = report.writes
        self.assertEqual((each.sequence, each.calls), (NO_SEQUENCE, 400))
        self.assertEqual((each.start + each.first, each.last - each.first), (int(start, 16), int(last)))


class Promises(TraceTest):
    """Programs behave as they do without it."""

    def test_hold(self):
        commands = [["malloc_family"], ["threads"], ["processes", PROGRAMS / "plugin.so"], ["thread_promises"],
                    *(["promises", case] for case in ("blocks", "no_cancellation_point", "fork_handlers", "dontfork",
                                                      "unmapped_by_the_kernel", "handler_maps", "reason_of_dlopen"))]
        for name, *arguments in commands:
            with self.subTest(name, arguments=arguments):
                self.assertEqual(self.traced(PROGRAMS / name, *arguments)[0], "ok\n")

    def test_hold_for_what_reads(self):
        for case in ("read", "pread", "vectors", "fread", "sockets", "cancelled", "in_handler"):
            with self.subTest(case):
                self.assertEqual(run([PROGRAMS / "reads", case]).returncode, 0)

    def test_memory_is_recycled_as_without_it(self):
        plain = run([PROGRAMS / "traced", "recycled"]).stdout
        self.assertEqual(plain, "again\n")
        output, report = self.traced(PROGRAMS / "traced", "recycled")
        self.assertEqual(output, plain)
        self.assertEqual([each.bytes // MIB for each in report.objects if each.kind == HEAP], [16, 8, 8])

    def test_hold_in_random_operations(self):
        self.assertEqual(self.traced(PROGRAMS / "torture", 1, 100_000)[0], "ok\n")

    def test_hold_without_a_report_and_without_settings(self):
        for settings in (TRACE, f"{TRACE};report=/dev/full", ""):
            done = run([PROGRAMS / "reads", "read"], settings)
            self.assertEqual(done.returncode, 0)
        self.assertEqual(run(["sort", "-n"], TRACE, input="3\n1\n2\n").stdout, "1\n2\n3\n")


class Rules(TraceTest):
    def test_the_end_tells_what_each_rule_has_matched(self):
        agent_report.reserve(self.file)
        rules = "rule=kind=heap,nth=0-5000:bind@0;rule=kind=heap:local;rule=kind=group:local"
        done = run([PROGRAMS / "traced", "many"], f"v3;threshold=1048576;{rules};report={self.file}")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        report = agent_report.read(self.file.read_bytes())
        self.assertEqual(report.ends[0].rules, [(5000, 5000), (15000, 15000), (0, 0)])
        self.assertEqual((report.allocations, report.stacks, report.objects[0].allocated_ns), ([], [], 0))


if __name__ == "__main__":
    unittest.main()
