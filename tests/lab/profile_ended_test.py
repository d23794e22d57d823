# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile --on` whose program is interrupted: what was seen until then is shown."""

import os
import signal
import subprocess
import unittest

import lab
from batch import NODEWISE

SOURCE = r"""
#include <stdio.h>
#include <string.h>
#include <unistd.h>
static char field[8 << 20];
int main(void) {
  memset(field, 1, sizeof field);
  puts("ready");
  fflush(stdout);
  for (;;)
    pause();
}
"""
# Who waits longer waits for ever; no test is about time.
PATIENCE = 900


class Interrupted(lab.LabTest):
    def setUp(self) -> None:
        super().setUp()
        (self.directory / "waits.c").write_text(SOURCE)
        subprocess.run(["gcc", "-g", "-O1", "waits.c", "-o", "waits"], cwd=self.directory, check=True)

    def start(self) -> subprocess.Popen:
        command = [str(NODEWISE), "profile", "--on", "lab:2x1", "--on-timeout", "0", "--", "./waits"]
        environment = {name: value for name, value in os.environ.items() if name != "NODEWISE_KERNEL"}
        return subprocess.Popen(
            command, cwd=self.directory, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, text=True, start_new_session=True,
        )  # fmt: skip

    def test_ctrl_c_shows_what_was_seen(self):
        self.check(os.kill)

    def test_an_interrupt_of_the_whole_group_counts_once(self):
        """As `timeout -s INT` sends it: to the command and to all that it started."""
        self.check(os.killpg)

    def check(self, send):
        with self.start() as profiling:
            self.assertEqual(profiling.stdout.readline(), "ready\n")
            send(profiling.pid, signal.SIGINT)
            _, said = profiling.communicate(timeout=PATIENCE)
        self.assertEqual(profiling.returncode, -signal.SIGINT, said)
        self.assertRegex(said, r"(?m)^ *field +8\.00 MiB", said)
        self.assertEqual(sorted(path.name for path in self.directory.iterdir()), ["waits", "waits.c"])


if __name__ == "__main__":
    unittest.main()
