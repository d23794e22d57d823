# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run`: what the program gets, how it ends, what is told of it."""

import json
import os
import pty
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from command import BUILD, COMMAND, DENY, PATIENCE, CommandTest, conforms, environment, nodewise

# Allocates and touches 8 MiB, as any program would: by malloc.
BIG = [sys.executable, "-c", "b = bytearray(b'x') * (8 << 20); print(len(b))"]
TORTURE = str(BUILD / "tests/agent/malloc_family")
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


class Leftovers(CommandTest):
    """Temporary folders of a run that was killed are removed by the next one, and no others."""

    def setUp(self):
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory()))

    def left(self):
        return sorted(path.name for path in self.folder.iterdir())

    def killed(self, *verb):
        self.expect(-signal.SIGKILL, *verb, "--", "sh", "-c", "kill -9 $PPID", env={"TMPDIR": str(self.folder)}, cwd=self.folder)
        return self.left()

    def test_the_next_run_removes_them(self):
        for verb in (("run", "--verify", "-q"), ("profile", "-q")):
            for following in (("run", "--verify", "-q"), ("profile", "-q")):
                with self.subTest(verb, following=following):
                    (name,) = self.killed(*verb)
                    self.assertRegex(name, r"\Anodewise-[0-9]+-[0-9a-f]{8}-\w{6}\Z")
                    self.expect(0, *following, "--", "true", env={"TMPDIR": str(self.folder)})
                    self.assertEqual(self.left(), [])

    def test_nothing_else_is_touched(self):
        (name,) = self.killed("run", "--verify", "-q")
        _, pid, place, letters = name.split("-")
        (self.folder / name / "report").unlink()
        (self.folder / name).rmdir()
        others = [
            f"nodewise-{os.getpid()}-{place}-{letters}",  # of a process that runs
            f"nodewise-{pid}-00000000-{letters}",  # of another host or container
            f"nodewise-{pid}-{letters}", f"nodewise-{pid}-{place}", f"nodewise-x-{place}-{letters}",
            f"other-{pid}-{place}-{letters}",
        ]
        for other in others:
            (self.folder / other).mkdir()
            (self.folder / other / "report").write_text("kept")
        full = self.folder / name
        full.mkdir()
        (full / "mine").write_text("kept")
        target = self.folder / "target"
        target.mkdir()
        (target / "report").write_text("kept")
        link = self.folder / f"nodewise-{pid}-{place}-link00"
        link.symlink_to(target)
        foreign = self.folder / f"nodewise-{pid}-{place}-other0"
        foreign.mkdir()
        if os.geteuid() == 0:
            os.chown(foreign, 65534, 65534)
            others.append(foreign.name)
        self.expect(0, "run", "--verify", "-q", "--", "true", env={"TMPDIR": str(self.folder)})
        self.assertEqual(self.left(), sorted([*others, name, "target"]))
        self.assertTrue(all((self.folder / other / "report").exists() for other in others[:6]))
        self.assertTrue((full / "mine").exists() and (target / "report").exists())


class Supervised(CommandTest):
    def start(self, *arguments, **options):
        return subprocess.Popen([COMMAND, "run", "--verify", "--quiet", "--", *arguments], env=environment(),
                                stdout=subprocess.PIPE, text=True, process_group=0, **options)

    def test_a_broken_pipe_is_what_it_is_without_us(self):
        for ignored in (False, True):
            for options in (["--verify"], ["--rule", "size>=1G:local"], ["-l"]):
                with self.subTest(options, ignored=ignored):
                    before = "trap '' PIPE; " if ignored else ""
                    line = f'{before}exec "$@" grep SigIgn /proc/self/status'
                    plain = subprocess.run(["bash", "-c", line, "-", "env"], stdout=subprocess.PIPE, check=True,
                                           env=environment())
                    ours = subprocess.run(["bash", "-c", line, "-", COMMAND, "run", "--quiet", *options, "--"],
                                          stdout=subprocess.PIPE, check=True, env=environment())
                    self.assertEqual(ours.stdout, plain.stdout)

    def test_signals_are_passed_on(self):
        for name in ("INT", "TERM", "HUP", "QUIT", "USR1", "USR2"):
            with self.subTest(name):
                script = f"trap 'echo {name}; exit 9' {name}; echo ready; while :; do sleep 0.05; done"
                program = self.start("bash", "-c", script)
                self.assertEqual(program.stdout.readline(), "ready\n")
                program.send_signal(getattr(signal, "SIG" + name))
                self.assertEqual(program.communicate(timeout=PATIENCE)[0], f"{name}\n")
                self.assertEqual(program.returncode, 9)

    def test_ctrl_c_reaches_the_program_once(self):
        # Until it has come, and a second more for another.
        script = ("n=0; trap 'n=$((n+1))' INT; echo ready; while [ $n = 0 ]; do sleep 0.05; done; "
                  "for i in 1 2 3 4 5 6 7 8 9 10; do sleep 0.1; done; echo n=$n")
        child, terminal = pty.fork()
        if child == 0:
            os.execve(COMMAND, [COMMAND, "run", "--verify", "--quiet", "--", "bash", "-c", script], environment())
        seen = b""
        while b"ready" not in seen:
            seen += os.read(terminal, 1000)
        os.write(terminal, b"\x03")
        while b"n=" not in seen:
            seen += os.read(terminal, 1000)
        os.waitpid(child, 0)
        os.close(terminal)
        self.assertIn(b"n=1", seen)

    def test_stopping_from_the_terminal_stops_both(self):
        program = self.start("bash", "-c", "echo $$; kill -TSTP $$; echo on")
        inner = int(program.stdout.readline())
        _, status = os.waitpid(program.pid, os.WUNTRACED)
        self.assertTrue(os.WIFSTOPPED(status))
        self.assertRegex(Path(f"/proc/{inner}/stat").read_text(), r"\) T ")
        program.send_signal(signal.SIGCONT)
        self.assertEqual(program.communicate(timeout=PATIENCE)[0], "on\n")
        self.assertEqual(program.returncode, 0)

    def test_a_parent_that_ignores_its_children(self):
        done = nodewise("run", "--verify", "-q", "--", "sh", "-c", "exit 5",
                        preexec_fn=lambda: signal.signal(signal.SIGCHLD, signal.SIG_IGN))
        self.assertEqual(done.returncode, 5)

    def test_nothing_is_left_behind(self):
        with tempfile.TemporaryDirectory() as folder:
            for script in ("true", "exit 3", "kill -KILL $$", "no-such-command"):
                nodewise("run", "--verify", "--", "sh", "-c", script, env={"TMPDIR": folder})
            nodewise("run", "--verify", "--", "no-such-program", env={"TMPDIR": folder})
            self.assertEqual(os.listdir(folder), [])

    def test_nowhere_to_write(self):
        done = self.expect(4, "run", "--verify", "--", "echo", "started", env={"TMPDIR": "/nonexistent"})
        self.assertEqual(done.stdout, "")
        self.assertIn("set TMPDIR to a directory", done.stderr)

    def test_a_report_cut_short_is_said(self):
        done = nodewise("run", "--verify", "--json", "--", TORTURE, before=["bash", "-c", 'ulimit -f 8; exec "$@"', "-"])
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\d+ records lost: the report file of 8 KiB is full; the limit of file sizes")
        self.assertNotIn("TMPDIR", done.stderr)

    def full_tmpfs(self, left, *command):
        """Runs the command where TMPDIR is a file system of 256 KiB, and `left` of them are free."""
        script = ('mount -t tmpfs -o size=256k none "$1" && head -c "$2" /dev/zero > "$1/rest"; '
                  'export TMPDIR=$1; shift 2; exec "$@"')
        namespace = ["unshare", *([] if os.geteuid() == 0 else ["-r"]), "-m"]
        if subprocess.run([*namespace, "mount", "-t", "tmpfs", "none", "/mnt"], capture_output=True, check=False).returncode:
            self.skipTest("no file system may be mounted here, even in a namespace of its own")
        with tempfile.TemporaryDirectory() as folder:
            return nodewise(*command, before=[*namespace, "sh", "-c", script, "-", folder, str((256 << 10) - left)])

    def test_little_room_for_the_report_is_said(self):
        done = self.full_tmpfs(64 << 10, "run", "--verify", "--", TORTURE)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stderr, r"\d+ records lost: the report file of \d+ KiB is full; TMPDIR has no room")

    def test_no_room_for_the_report_is_said_before_the_program_starts(self):
        done = self.full_tmpfs(0, "run", "--verify", "--", "echo", "started")
        self.assertEqual((done.returncode, done.stdout), (4, ""))
        self.assertIn("set TMPDIR to a directory with room", done.stderr)


class Honesty(CommandTest):
    """What was asked and cannot be seen to have happened is said, and is no success under --strict."""

    def said(self, code, *arguments, program=BIG, **variables):
        done = subprocess.run([COMMAND, "run", *arguments, "--", *program], capture_output=True, text=True,
                              env=environment() | variables, cwd="/tmp", timeout=PATIENCE)
        self.assertEqual(done.returncode, code, done.stderr)
        return done.stderr

    def test_a_rule_that_fits_no_array(self):
        rule = ["--rule", "symbol=feild:local"]
        self.assertIn("--rule symbol=feild:local: no array matches", self.said(0, *rule, "--verify"))
        self.assertIn("no array matches", self.said(1, *rule, "--verify", "--strict"))
        self.assertNotIn("no array matches", self.said(0, "--rule", "size>=8M:local", "--verify"))

    def test_a_team_of_another_size(self):
        team = ["--memory", "blocked", "--bind", "close", "--threads", "2", "--verify"]
        program = [sys.executable, "-c", "import threading; b = bytearray(b'x') * (8 << 20);"
                   "t = [threading.Thread(target=len, args=(b,)) for _ in range(3)];"
                   "[x.start() for x in t]; [x.join() for x in t]"]
        told = self.said(0, *team, program=program)
        self.assertRegex(told, r"ran with 3 threads, but its memory was laid out for 2: give --threads 3")
        self.said(1, *team, "--strict", program=program)
        self.assertIn("as asked", told)
        self.assertNotRegex(told, r"size +local")

    def test_a_result_that_cannot_be_written_is_said_before_the_program_starts(self):
        for verb in ("run", "pages"):
            done = subprocess.run([COMMAND, verb, "--json", "-o", "/nonexistent/x.json", "--", "echo", "started"],
                                  capture_output=True, text=True, env=environment(), timeout=PATIENCE)
            self.assertEqual(done.returncode, 4, done.stderr)
            self.assertIn("/nonexistent/x.json", done.stderr)
            self.assertEqual(done.stdout, "")

    def test_ranks_do_not_write_one_file(self):
        ranks = {"MPI_LOCALRANKID": "0", "MPI_LOCALNRANKS": "4"}
        self.assertIn("put %r", self.said(2, "--json", "-o", "x.json", **ranks))

    def test_ranks_on_the_same_processors(self):
        told = self.said(0, "--bind", "close", MPI_LOCALRANKID="0", MPI_LOCALNRANKS="4")
        self.assertIn("all 4 ranks of this host get the same processors", told)
        self.assertEqual(self.said(0, "--bind", "close", MPI_LOCALRANKID="1", MPI_LOCALNRANKS="4"), "")

    def test_address_sanitizer_runs_without_the_agent(self):
        with tempfile.TemporaryDirectory() as folder:
            program = [f"{folder}/checked"]
            subprocess.run(["gcc", "-fsanitize=address", "-x", "c", "-", "-o", *program],
                           input="int main(void) { return 0; }", text=True, check=True)
            self.assertIn("built with AddressSanitizer", self.said(0, "--bind", "close", program=program))


class Report(CommandTest):
    def objects(self, *options, program=BIG, before=(), code=0):
        result = self.expect_json(code, "run", "--json", *options, "--", "sh", "-c", 'exec "$@" >&2', "-", *program,
                                  before=before)
        self.assertIsNone(conforms(result, "run-1"))
        objects = [o for p in result["processes"] for o in p["objects"]]
        return result, objects

    def test_where_the_pages_were(self):
        for options in (["--memory", "blocked", "--bind", "close"], ["-m", "0"], ["-i", "all"], ["-l"], []):
            with self.subTest(options):
                result, objects = self.objects(*options)
                largest = max(objects, key=lambda o: o["bytes"])
                self.assertGreaterEqual(largest["bytes"], 8 << 20)
                self.assertEqual(largest["resident"], sum(n["pages"] for n in largest["per_node"]))
                self.assertEqual(largest["unknown"], 0)
                self.assertGreater(largest["resident"], 0.99 * largest["pages"])
                if options and options[0] in ("--memory", "-m"):
                    self.assertEqual(largest["as_asked"], 1)
                    self.assertTrue(result["as_asked"])

    def test_a_table_for_people(self):
        done = self.expect(0, "run", "--memory", "blocked", "--bind", "close", "--verify", "--", *BIG)
        self.assertEqual(done.stdout, f"{8 << 20}\n")
        self.assertRegex(done.stderr, r"python[^ ]*\[\d+\]: \d+ objects of 1.00 MiB or more\n")
        self.assertRegex(done.stderr, r"#\d+ \S+ +8.00 MiB +100 % .*N0 100 %")
        nothing = self.expect(0, "run", "--verify", "--", "true").stderr
        self.assertIn("no object of 1.00 MiB or more was seen", nothing)

    def test_into_a_file(self):
        with tempfile.TemporaryDirectory() as folder:
            done = self.expect(0, "run", "-m", "0", "-o", f"{folder}/run-%p.json", "--", "echo", "hello")
            self.assertEqual((done.stdout, done.stderr), ("hello\n", ""))
            (file,) = Path(folder).iterdir()
            self.assertIsNone(conforms(json.loads(file.read_text()), "run-1"))

    def test_a_signal_and_what_it_leaves_unknown(self):
        done = nodewise("run", "--json", "--", "sh", "-c", "kill -KILL $$")
        result = json.loads(done.stdout)
        self.assertEqual((done.returncode, result["signal"], result["exit_code"]), (-9, 9, 137))
        self.assertEqual(result["processes"][0]["totals"], "unavailable")
        self.assertIn("did not end by exit", done.stderr)

    def test_strict_is_not_satisfied_by_what_nobody_knows(self):
        strict = ("--strict", "--verify", "--memory", "blocked", "--bind", "close", "--")
        self.expect(0, "run", *strict, *BIG)
        replaced = self.expect(1, "run", *strict, sys.executable, "-S", "-c",
                               "import os; b = bytearray(8 << 20); os.execlp('true', 'true')")
        self.assertIn("became another program: the memory that it had not freed is unknown", replaced.stderr)
        # Killed once it sleeps, and so has become `sleep`.
        kill = ('"$@" & until [ "$(cat /proc/$!/comm)" = sleep ] && grep -q "^State:.S" /proc/$!/status; do sleep 0.05; done; '
                "sleep 0.5; kill -KILL $!; wait; true")
        self.expect(1, "run", *strict, "sh", "-c", kill, "-", "sleep", "1000")
        self.expect(1, "run", "--strict", "--verify", "-m", "0", "--", *BIG,
                    before=[DENY, "move_pages,get_mempolicy", "EPERM", "--"])

    def test_children_are_reported_and_inherited_objects_are_not_twice(self):
        script = "import os; b = bytearray(4 << 20); p = os.fork(); p and os.waitpid(p, 0); os._exit(0)"
        result, objects = self.objects(program=[sys.executable, "-c", script])
        self.assertGreaterEqual(len(result["processes"]), 2)
        self.assertEqual(len([o for o in objects if o["bytes"] // (4 << 20) == 1]), 1)


class Refused(CommandTest):
    def denied(self, calls, errno, *arguments, code):
        return self.expect(code, "run", *arguments, before=[DENY, calls, errno, "--"])

    def test_policy_and_affinity(self):
        for calls, option in (("set_mempolicy", "-m"), ("sched_setaffinity", "-C")):
            for errno in ("EPERM", "ENOSYS"):
                for supervised in ((), ("--verify",)):
                    done = self.denied(calls, errno, *supervised, option, "0", "--", "echo", "started", code=4)
                    self.assertEqual(done.stdout, "")
                    self.assertRegex(done.stderr, rf"\Anodewise: .*{calls} was refused: {errno} \(.*\)\n    hint: .*seccomp.*\n\Z")

    def test_mbind(self):
        done = self.denied("mbind", "EPERM", "--memory", "blocked", "--", *BIG, code=0)
        self.assertRegex(done.stderr, r"nodewise: \S+\[\d+\]: \d+ of \d+ large objects not placed: mbind failed: EPERM")
        self.assertEqual(len(done.stderr.splitlines()), 1)
        done = self.denied("mbind", "EPERM", "--memory", "blocked", "--verify", "--", *BIG, code=0)
        self.assertIn("not placed: EPERM", done.stderr)
        self.denied("mbind", "EPERM", "--memory", "blocked", "--strict", "--", *BIG, code=1)

    def test_move_pages(self):
        done = self.denied("move_pages", "EPERM", "-m", "0", "--verify", "--", *BIG, code=0)
        self.assertRegex(done.stderr, r"8.00 MiB +100 % .*resolution reduced")
        done = self.denied("move_pages,get_mempolicy", "EPERM", "-m", "0", "--verify", "--", *BIG, code=0)
        self.assertRegex(done.stderr, r"8.00 MiB +- .*unknown (100|99\.\d+) %")
        self.assertNotRegex(done.stderr, r"8.00 MiB.*N0")


    def test_memory_only_read_is_on_no_node(self):
        read = [sys.executable, "-S", "-c", """
import ctypes
c = ctypes.CDLL(None); c.malloc.restype = ctypes.c_void_p; c.malloc.argtypes = [ctypes.c_size_t]
a = c.malloc(8 << 20); sum(ctypes.string_at(a + i, 1)[0] for i in range(0, 8 << 20, 4096))"""]
        self.assertRegex(self.expect(0, "run", "--verify", "-m", "0", "--", *read).stderr, "not resident (100|99|98)")
        denied = self.denied("move_pages", "EPERM", "-m", "0", "--verify", "--", *read, code=0).stderr
        self.assertRegex(denied, "unknown (100|99|98)")


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
