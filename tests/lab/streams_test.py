# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""stdin, stdout, stderr and signals pass through unharmed, also when one of them stalls."""

import hashlib
import os
import pty
import random
import select
import signal
import subprocess
import time
import unittest
from pathlib import Path

import lab

# Who waits longer waits for ever; no test is about time.
PATIENCE = 300
MEGABYTES = random.Random(1).randbytes(5_000_000)


class Streams(lab.LabTest):
    def test_megabytes_of_stdin_arrive_intact(self):
        result = lab.run("md5sum", input=MEGABYTES)
        self.assert_output(result, f"{hashlib.md5(MEGABYTES).hexdigest()}  -\n")

    def test_megabytes_return_intact(self):
        result = lab.run("cat", input=MEGABYTES)
        self.assertTrue(result.stdout == MEGABYTES, f"{len(result.stdout)} bytes came back")

    def test_input_of_every_size_reaches_its_end(self):
        for size in (0, 1, 32763, 32764, 262144, 262145):
            with self.subTest(size=size):
                self.assert_output(lab.run("wc", "-c", input=MEGABYTES[:size]), f"{size}\n")

    def test_a_command_that_never_reads_ends_all_the_same(self):
        self.assert_output(lab.run("echo", "done", input=MEGABYTES), "done\n")

    def test_closed_stdin_is_an_empty_one(self):
        command = lab.on(lab.FOUR_NODES, "wc", "-c")
        result = subprocess.run(["sh", "-c", 'exec "$@" <&-', "sh", *command], capture_output=True)
        self.assert_output(result, "0\n")

    def test_stdout_and_stderr_stay_apart_and_binary(self):
        every_byte = bytes(range(256))
        result = lab.run("sh", "-c", "cat; printf '\\000\\377\\r\\n' >&2", input=every_byte)
        self.assertEqual(result.stdout, every_byte)
        self.assertEqual(result.stderr, b"\0\xff\r\n")

    def test_a_reader_that_leaves_ends_the_writer(self):
        command = lab.on(lab.FOUR_NODES, "yes")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stdout.readline(), b"y\n")
            process.stdout.close()
            self.assertEqual(process.wait(PATIENCE), -signal.SIGPIPE)

    def test_a_stalled_stdout_holds_up_neither_stderr_nor_signals(self):
        command = lab.on(lab.FOUR_NODES, "sh", "-c", "yes & sleep 2; echo free >&2; wait")
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
            self.assertEqual(process.stderr.readline(), b"free\n")  # while nobody reads stdout
            process.send_signal(signal.SIGTERM)
            process.stdout.read()
            self.assertEqual(process.wait(PATIENCE), -signal.SIGTERM)


def runs(pid: int) -> bool:
    """Whether there is such a process that has not ended; who inherits it may collect it late."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return False
    return "State:\tZ" not in status


class Signals(lab.LabTest):
    def start(self, script: str, options: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        command = lab.on(lab.FOUR_NODES, "bash", "-c", script, options=options)
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def test_signals_reach_the_command(self):
        script = "trap 'exit 41' TERM; trap 'exit 42' INT; trap 'exit 43' HUP; echo ready; while :; do sleep 0.05; done"
        for number, status in ((signal.SIGTERM, 41), (signal.SIGINT, 42), (signal.SIGHUP, 43)):
            with self.subTest(signal=number.name):
                process = self.start(script)
                self.assertEqual(process.stdout.readline(), b"ready\n")
                process.send_signal(number)
                self.assertEqual(process.wait(PATIENCE), status)

    def test_the_second_interrupt_ends_the_machine(self):
        process = self.start("trap 'echo told' INT; echo ready; while :; do sleep 0.05; done")
        self.assertEqual(process.stdout.readline(), b"ready\n")
        process.send_signal(signal.SIGINT)
        self.assertEqual(process.stdout.readline(), b"told\n")  # the first one is the command's alone
        self.assertIsNone(process.poll())
        # Two within a second end the machine. Either may be late where the processors are busy: sent on
        # and on, two of them are near enough to each other soon.
        deadline = time.monotonic() + PATIENCE
        while process.poll() is None and time.monotonic() < deadline:
            process.send_signal(signal.SIGINT)
            time.sleep(0.1)
        self.assertEqual(process.returncode, -signal.SIGINT)

    def test_time_limit(self):
        process = self.start("sleep 1000", options=("--timeout", "4"))
        self.assertEqual(process.wait(PATIENCE), 124)
        self.assertIn(b"--on-timeout", process.stderr.read())

    def test_a_killed_runner_takes_its_machine_along(self):
        process = self.start("echo ready; sleep 1000")
        self.assertEqual(process.stdout.readline(), b"ready\n")
        (emulator,) = subprocess.check_output(["pgrep", "-P", str(process.pid)]).split()
        process.kill()
        process.wait()
        deadline = time.monotonic() + PATIENCE
        while runs(int(emulator)) and time.monotonic() < deadline:
            time.sleep(0.05)
        self.assertFalse(runs(int(emulator)))


class Terminal(lab.LabTest):
    def test_keys_size_and_status(self):
        ours, theirs = pty.openpty()
        self.addCleanup(os.close, ours)
        command = lab.on(lab.FOUR_NODES, "sh", "-c", "tty; sleep 1000; exit 1", options=("--tty",))
        process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs)
        os.close(theirs)
        self.assertIn(b"/dev/pts/0\r\n", self.read_until(ours, b"/dev/pts/0\r\n"))
        os.write(ours, b"\x03")
        self.assertEqual(process.wait(PATIENCE), -signal.SIGINT)

    def read_until(self, fd: int, end: bytes) -> bytes:
        text = b""
        while end not in text and select.select([fd], [], [], PATIENCE)[0]:
            text += os.read(fd, 4096)
        return text

    def test_no_terminal_is_an_error(self):
        result = lab.run("true", options=("--tty",))
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"cannot start a terminal (--tty): stdin is not a terminal\n    hint: ", result.stderr)


if __name__ == "__main__":
    unittest.main()
