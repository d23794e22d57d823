# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run` where it stays beside the program: signals, terminals, and the files it needs for a report."""

import os
import pty
import signal
import subprocess
import tempfile
import unittest
from pathlib import Path

from command import BUILD, COMMAND, PATIENCE, CommandTest, environment, nodewise

TORTURE = str(BUILD / "tests/agent/malloc_family")


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


if __name__ == "__main__":
    unittest.main()
