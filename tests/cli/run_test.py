# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run`: what the program gets, how it ends, and what is wrong with it where it does not start."""

import os
import shutil
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, COMMAND, CommandTest

NUMA_MAPS = Path("/proc/self/numa_maps").exists()


class Start(CommandTest):
    def test_the_program_takes_the_place_of_the_command(self):
        done = self.expect(0, "run", "-m", "all", "--", "sh", "-c", "echo $PPID; echo e >&2; cat", input="i\n")
        self.assertEqual(done.stdout, f"{os.getpid()}\ni\n")
        self.assertEqual(done.stderr, "e\n")

    def test_exit_codes_are_the_programs(self):
        for options in ((), ("-m", "all"), ("--verify", "--quiet"), ("--memory", "blocked")):
            with self.subTest(options):
                self.expect(0, "run", *options, "--", "true")
                self.expect(7, "run", *options, "--", "sh", "-c", "exit 7")
                self.expect(127, "run", *options, "--", "no-such-program")
                self.expect(126, "run", *options, "--", "/etc/passwd")
                self.expect(-signal.SIGTERM, "run", *options, "--", "sh", "-c", "kill -TERM $$")

    def test_errors_say_what_was_asked_and_a_cure(self):
        for arguments in (["-m", "1000"], ["-N", "1000"], ["-C", "100000"], ["-m", "x"], ["-m", "!all"],
                          ["--memory", "heap"], ["--memory", "bind"], ["--memory", "blocked:0"], ["-m", "0", "-l"],
                          ["-i", "all", "--memory", "local"], ["--threads", "0"]):
            with self.subTest(arguments):
                done = self.expect(2, "run", *arguments, "--", "echo", "started")
                self.assertEqual(done.stdout, "")
                self.assertRegex(done.stderr, r"\Anodewise: .*-(.*|\n)*\n    hint: .+\n\Z")

    def test_a_static_program_is_an_error_only_if_strict(self):
        placed = ("--memory", "blocked", "--bind", "close", "--", COMMAND, "--version")
        self.assertIn("statically linked", self.expect(125, "run", "--strict", *placed).stderr)
        self.assertIn("interleaved", self.expect(0, "run", *placed).stderr)

    def test_sizes_and_numbers_beyond_reason_are_usage_errors(self):
        self.assertIn("4K or more", self.expect(2, "run", "--threshold", "0", "--", "true").stderr)
        for many in ("8193", "100000", "9223372036854775807"):
            said = self.expect(2, "run", "--threads", many, "--", "true").stderr
            self.assertIn(f"--threads {many}: at most 8192 can be given places: the kernel limits", said)
            self.assertRegex(said, rf"this machine has {os.cpu_count()} processors?\n")
        many = self.expect(2, "run", "--bind", "close", "--", "true", env={"OMP_NUM_THREADS": "18446744073709551615"})
        self.assertIn("OMP_NUM_THREADS", many.stderr)
        self.expect(0, "run", "--threads", "8192", "--bind", "close", "-q", "--", "true")

    @unittest.skipUnless(NUMA_MAPS, "this kernel has no numa_maps")
    def test_the_policy_is_numactls(self):
        if not shutil.which("numactl"):
            self.skipTest("numactl is not installed")
        for options in (["-m", "0"], ["-i", "all"], ["-p", "0"], ["-P", "0"], ["-l"], ["-N", "0", "-m", "0"], ["-m", "+0"]):
            with self.subTest(options):
                script = "grep -o '^Cpus_allowed_list.*' /proc/self/status; grep heap /proc/self/numa_maps | cut -d' ' -f2"
                ours = self.expect(0, "run", *options, "--", "bash", "-c", script).stdout
                numactl = subprocess.run(["numactl", *options, "bash", "-c", script], capture_output=True, text=True,
                                         check=True).stdout
                self.assertEqual(ours, numactl)

    def test_threads_are_told_where_to_run(self):
        script = "echo $OMP_NUM_THREADS $OMP_PLACES $OMP_PROC_BIND $KMP_AFFINITY; grep Cpus_allowed_list /proc/self/status"
        env = {"OMP_PROC_BIND": "false", "KMP_AFFINITY": "compact"}
        done = self.expect(0, "run", "-C", "0", "--bind", "close", "--", "sh", "-c", script, env=env)
        self.assertEqual(done.stdout, "1 {0} close\nCpus_allowed_list:\t0\n")
        self.assertIn("OMP_PROC_BIND=false replaced by close", done.stderr)
        self.assertIn("KMP_AFFINITY=compact removed", done.stderr)
        quiet = self.expect(0, "run", "-q", "-C", "0", "--bind", "close", "--", "true", env=env)
        self.assertEqual(quiet.stderr, "")
        left_alone = self.expect(0, "run", "-C", "0", "--", "sh", "-c", script, env=env)
        self.assertEqual(left_alone.stdout, "false compact\nCpus_allowed_list:\t0\n")

    @unittest.skipUnless(len(os.sched_getaffinity(0)) > 1, "one processor")
    def test_what_the_caller_may_not_use_is_named(self):
        first, second = sorted(os.sched_getaffinity(0))[:2]
        done = self.expect(2, "run", "-C", str(second), "--", "true", before=["taskset", "-c", str(first)])
        self.assertIn(f"may only use {first} (cpuset or affinity)", done.stderr)

    def test_dry_run_prints_a_line_for_a_shell_and_starts_nothing(self):
        done = self.expect(0, "run", "--dry-run", "-C", "0", "--bind", "close", "-m", "0", "--", "echo", "a b")
        self.assertRegex(done.stdout, r"\A(# .*\n)*OMP_NUM_THREADS=1 OMP_PLACES='\{0\}' OMP_PROC_BIND=close "
                                      r"LD_PRELOAD=.* numactl --physcpubind=0 --membind=0 -- echo 'a b'\n\Z")
        if shutil.which("numactl"):
            again = subprocess.run(["sh", "-c", done.stdout], capture_output=True, text=True, check=False)
            self.assertEqual((again.returncode, again.stdout), (0, "a b\n"), again.stderr)
        blocked = self.expect(0, "run", "--dry-run", "--memory", "blocked", "--bind", "close", "--", "true").stdout
        self.assertRegex(blocked, r"LD_PRELOAD=\S+/lib/nodewise/libnodewise-agent.so NODEWISE_AGENT='v[0-9]+;.*blocked")


class NotStarted(CommandTest):
    """What is wrong with the program, with a shell's exit codes."""

    CASES = (
        ("folder", 126, "it is a directory"),
        ("./", 126, "it is a directory"),
        ("plain", 126, "it has no permission to be executed"),
        ("pipe", 126, "it is not a file"),
        ("missing", 127, "it was not found"),
        ("bad", 127, "the interpreter or loader that it names was not found"),
    )

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))
        (self.folder / "folder").mkdir()
        (self.folder / "plain").write_text("#!/bin/sh\n")
        os.mkfifo(self.folder / "pipe", 0o755)
        (self.folder / "bad").write_text("#!/no/such/interpreter\n")
        (self.folder / "bad").chmod(0o755)

    def test_as_a_shell_does(self):
        for name, code, why in self.CASES:
            path = f"./{name}"
            if name != "pipe":  # which bash opens to look for an interpreter, and waits for ever
                shell = subprocess.run(["bash", "-c", '"$0"', path], cwd=self.folder, stdin=subprocess.DEVNULL,
                                       stderr=subprocess.PIPE, check=False)
                self.assertEqual(shell.returncode, code, shell.stderr)
            for verb in (("run",), ("run", "--verify", "-q"), ("run", "--memory", "blocked"), ("profile",), ("pages",)):
                with self.subTest(name, verb=verb):
                    done = self.expect(code, *verb, "--", path, cwd=self.folder)
                    self.assertEqual(done.stdout, "")
                    self.assertIn(f"nodewise: the program '{path}': ", done.stderr)
                    self.assertIn(why, done.stderr)
                    self.assertEqual(done.stderr.count("nodewise: the program"), 1, done.stderr)

    def test_names_without_a_slash(self):
        for verb in (("run",), ("run", "--verify", "-q"), ("run", "--memory", "blocked"), ("profile",), ("pages",)):
            for name, code, why in ((".", 126, "it is a directory"), ("..", 126, "it is a directory"),
                                    ("folder", 127, "is a directory here"), ("plain", 127, "hint: write ./plain"),
                                    ("missing", 127, "it was not found"), ("", 127, "it was not found")):
                with self.subTest(name, verb=verb):
                    done = self.expect(code, *verb, "--", name, cwd=self.folder)
                    self.assertIn(why, done.stderr)

    def test_in_path(self):
        done = self.expect(126, "run", "--", "plain", env={"PATH": str(self.folder)})
        self.assertIn("the files of this name in PATH are not executable", done.stderr)


class WithoutAgent(CommandTest):
    def test_a_static_program_is_interleaved_instead_and_that_is_said(self):
        done = self.expect(0, "run", "--memory", "blocked", "--", COMMAND, "run", "--", "cat", "/proc/self/numa_maps"
                           if NUMA_MAPS else "/dev/null")
        self.assertIn("statically linked", done.stderr)
        self.assertIn("interleaved over node", done.stderr)
        if NUMA_MAPS:
            self.assertIn(" interleave:", done.stdout)

    def test_a_program_with_its_own_malloc(self):
        program = str(BUILD / "tests/agent/own_malloc")
        done = self.expect(0, "run", "--memory", "blocked", "--verify", "--", program)
        self.assertIn("overrides malloc", done.stderr)
        self.expect(1, "run", "--memory", "blocked", "--strict", "--", program)

    def test_what_the_user_preloads_stays(self):
        script = "echo $LD_PRELOAD"
        done = self.expect(0, "run", "--memory", "blocked", "--", "sh", "-c", script, env={"LD_PRELOAD": "libm.so.6"})
        self.assertRegex(done.stdout, r"\A\S*/libnodewise-agent.so:libm.so.6\n\Z")


if __name__ == "__main__":
    unittest.main()
