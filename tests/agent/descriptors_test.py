# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The agent writes into no file of the program, takes no descriptor number and survives a full disk."""

import os
import pathlib
import resource
import signal
import subprocess
import tempfile
import unittest

import agent_report
from programs_test import AGENT, BUILD, DENY, PROGRAMS

PROGRAM = PROGRAMS / "descriptors"
PLUGIN = PROGRAMS / "static_plugin.so"
TRACE_LIBRARY = BUILD / "lib/nodewise/libnodewise-trace.so"
NOWHERE = "v3;threshold=1048576;owners=1023;default=blocked"  # mbind refuses: the agent says so at the end
TRACE = "v3;threshold=1048576;group=256;observe;trace"


def run(command, settings, preloaded=(AGENT,), before=(), **options):
    env = {"LD_PRELOAD": ":".join(map(str, preloaded)), "NODEWISE_AGENT": settings}
    words = [*before, "env", *(f"{name}={value}" for name, value in env.items()), *command]
    return subprocess.run([str(word) for word in words], text=True, timeout=580, check=False,
                          **{"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **options})


def trace(command, report, **options):
    return run(command, f"{TRACE};report={report}", (AGENT, TRACE_LIBRARY), **options)


UNSHARE = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m"]


def may_mount():
    mounted = subprocess.run([*UNSHARE, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False)
    return mounted.returncode == 0


class FolderTest(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(self.enterContext(tempfile.TemporaryDirectory(prefix="nodewise-descriptors-")))
        self.report = self.folder / "report"

    def read(self, report=None):
        return agent_report.read((report or self.report).read_bytes())


class Messages(FolderTest):
    """They go to the file that was stderr when the program began, or nowhere."""

    def setUp(self):
        super().setUp()
        self.file = self.folder / "file"

    def test_said_where_stderr_is_what_it_was(self):
        done = run([PROGRAM], NOWHERE)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"))
        self.assertRegex(done.stderr, r"\Anodewise: descriptors\[\d+\]: 3 of 3 large objects not placed: .*\n\Z")

    def test_a_redirection_by_the_parent_is_the_programs_stderr(self):
        with open(self.file, "w", encoding="utf-8") as file:
            self.assertEqual(run([PROGRAM], NOWHERE, stderr=file).returncode, 0)
        self.assertIn("large objects not placed", self.file.read_text())

    def test_a_file_of_the_programs_own_at_descriptor_2(self):
        for case in ("closed", "duplicated"):
            with self.subTest(case):
                done = run([PROGRAM, case, self.file], NOWHERE)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ok\n", ""))
                self.assertEqual(self.file.read_text(), "own\n")

    def test_a_file_that_gets_the_inode_of_the_first(self):
        with open(self.file, "w", encoding="utf-8") as file:
            done = run([PROGRAM, "replaced", self.file], NOWHERE, stderr=file)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"))
        self.assertEqual(self.file.read_text(), "own\n")

    def test_a_file_of_a_forked_child(self):
        done = run([PROGRAM, "in_child", self.file], NOWHERE)
        self.assertEqual((done.returncode, self.file.read_text()), (0, "own\n"))
        self.assertEqual(done.stderr.count("\n"), 1)

    def test_no_stderr_from_the_start(self):
        done = run([PROGRAM, "closed", self.file], NOWHERE, before=["sh", "-c", 'exec "$@" 2>&-', "-"])
        self.assertEqual((done.returncode, self.file.read_text()), (0, "own\n"))

    def test_a_pipe_without_a_reader(self):
        reader, writer = os.pipe()
        os.close(reader)
        # Python ignores SIGPIPE, and its children would inherit that.
        done = run([PROGRAM], NOWHERE, stderr=writer, preexec_fn=lambda: signal.signal(signal.SIGPIPE, signal.SIG_DFL))
        os.close(writer)
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"))


class Numbers(FolderTest):
    def test_the_lowest_free_number_is_the_programs(self):
        # Trace mode reads the system's facts when it first needs them: one chance a run.
        for settings in (*[TRACE] * 5, f"{TRACE};numa-pin", "v3;threshold=1048576;owners=0*4;default=blocked"):
            with self.subTest(settings):
                agent_report.reserve(self.report)
                done = run([PROGRAM, "lowest", PLUGIN], f"{settings};report={self.report}", (AGENT, TRACE_LIBRARY))
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ok\n", ""))
                report = self.read()
                self.assertGreater(len(report.objects), 3000)
                self.assertEqual([each.name for each in report.objects if each.kind == agent_report.STATIC],
                                 ["plugin_field"] * 30)
                self.assertIn("descriptors", [each.name for each in report.threads])

    def test_where_move_pages_is_refused(self):
        agent_report.reserve(self.report)
        settings = f"v3;threshold=1048576;observe;owners=0;report={self.report}"
        done = run([PROGRAM, "lowest", PLUGIN], settings, before=[DENY, "move_pages", "EPERM", "--"])
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "ok\n", ""))
        block = next(each for each in self.read().objects if each.kind == agent_report.HEAP)
        self.assertEqual(block.resident, 1)


class Processes(FolderTest):
    def test_forks_and_execs_have_their_records(self):
        agent_report.reserve(self.report)
        done = run([PROGRAMS / "processes", PROGRAMS / "plugin.so"],
                   f"v3;threshold=1048576;owners=0;default=blocked;report={self.report}")
        self.assertEqual((done.returncode, done.stdout), (0, "ok\n"))
        report = self.read()
        first, child, again = report.starts
        self.assertEqual((child.parent, again.pid), (first.pid, first.pid))
        self.assertNotEqual(child.pid, first.pid)
        self.assertEqual({each.pid for each in report.objects}, {first.pid, child.pid})
        self.assertEqual([each.pid for each in report.ends], [child.pid, first.pid])
        self.assertEqual([each.left_out["lost"] for each in report.ends], [0, 0])

    def test_after_chroot_and_a_change_of_the_user(self):
        agent_report.reserve(self.report)
        script = ("import ctypes, os\n"
                  "c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p\n"
                  "os.chroot('/var/empty' if os.path.isdir('/var/empty') else '/proc'); os.setuid(65534)\n"
                  "assert c.malloc(ctypes.c_size_t(7654321))\n")
        if os.geteuid() != 0:
            self.skipTest("only root may change its root")
        done = trace(["/usr/bin/python3", "-c", script], self.report)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(7654321, [each.bytes for each in self.read().objects])


class Room(FolderTest):
    def test_a_full_file_says_so(self):
        for size in (4096, 8192, 1 << 20):
            with self.subTest(size):
                agent_report.reserve(self.report, size)
                done = trace([PROGRAMS / "traced", "many"], self.report)
                self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
                report = self.read()
                (end,) = report.ends
                self.assertGreater(report.lost, 0)
                self.assertEqual(end.left_out["lost"], report.lost)
                self.assertEqual(end.left_out["no_memory"], 0)
                self.assertEqual(self.report.stat().st_size, size)

    def test_a_limit_of_file_sizes_is_the_programs(self):
        agent_report.reserve(self.report)
        done = trace([PROGRAMS / "traced", "many"], self.report,
                       preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (0, 0)))
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.read().lost, 0)

    @unittest.skipUnless(may_mount(), "no file system may be mounted here, even in a namespace of its own")
    def test_a_full_file_system(self):
        script = ('mount -t tmpfs -o size=256k none "$1" && fallocate -l 128k "$1/report" && '
                  '{ cat /dev/zero > "$1/rest" 2>/dev/null; shift; "$@"; code=$?; cp "$0/report" "$0.copy"; exit $code; }')
        done = trace([PROGRAMS / "traced", "many"], self.folder / "report",
                       before=[*UNSHARE, "sh", "-c", script, self.folder, self.folder])
        copy = pathlib.Path(f"{self.folder}.copy")
        self.addCleanup(copy.unlink, missing_ok=True)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        report = self.read(copy)
        self.assertGreater(report.lost, 0)
        self.assertEqual(report.ends[0].left_out["lost"], report.lost)


if __name__ == "__main__":
    unittest.main()
