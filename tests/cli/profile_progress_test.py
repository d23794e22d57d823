# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile` on a terminal says what it does while a program runs for more than two seconds."""

import os
import select
import signal
import subprocess
import time
import unittest

from command import COMMAND, PATIENCE, CommandTest, environment, wait_until

SAID = b"Ctrl-C ends it and shows what was seen"


class Shown:
    """A command whose standard error is a terminal; what it has shown there so far."""

    def __init__(self, *arguments, **streams):
        self.terminal, other = os.openpty()
        self.text = b""
        self.process = subprocess.Popen([COMMAND, "profile", *arguments], stderr=other, env=environment(), **streams)
        os.close(other)

    def look(self):
        while select.select([self.terminal], [], [], 0)[0]:
            try:
                self.text += os.read(self.terminal, 65536)
            except OSError:  # the other side is closed
                break
        return self.text

    def end(self):
        """Its exit code. The terminal is read meanwhile: it holds little."""
        wait_until(lambda: self.look() is not None and self.process.poll() is not None, "its end")
        self.look()
        os.close(self.terminal)
        return self.process.returncode


class Programs(CommandTest):
    def start(self, *options):
        return Shown(*options, "--", "cat", stdin=subprocess.PIPE, stdout=subprocess.DEVNULL)

    def end(self, shown):
        shown.process.stdin.close()
        self.assertEqual(shown.end(), 0, shown.text)

    def test_one_line_after_two_seconds(self):
        shown = self.start()
        wait_until(lambda: SAID in shown.look(), f"a line that says so in {shown.text}")
        self.end(shown)
        self.assertEqual(shown.text.count(SAID), 1)
        self.assertIn(b"profiling cat", shown.text)

    def test_nothing_where_nobody_wants_it(self):
        shown = self.start("--quiet")
        time.sleep(2.5)
        self.end(shown)
        self.assertNotIn(SAID, shown.text)

    def test_nothing_where_nobody_looks(self):
        done = subprocess.run([COMMAND, "profile", "--", "sleep", "2.5"], capture_output=True, timeout=PATIENCE, check=True)
        self.assertNotIn(SAID, done.stderr)


class Watched(CommandTest):
    def test_a_line_that_is_gone_at_the_end(self):
        with subprocess.Popen(["sleep", "1000"]) as target:
            for options in ((), ("--duration", "1000")):
                with self.subTest(options):
                    shown = Shown("-p", str(target.pid), *options, stdout=subprocess.DEVNULL)
                    wait_until(lambda shown=shown: b"watching process" in shown.look(), "a line that says so")
                    shown.process.send_signal(signal.SIGINT)
                    self.assertEqual(shown.end(), 0, shown.text)
                    self.assertRegex(shown.text, rb"watching process \d+[^\n]*\r\x1b\[K")
            target.kill()


if __name__ == "__main__":
    unittest.main()
