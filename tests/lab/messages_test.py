# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the runner says: errors, hints and progress. No virtual machine is started."""

import contextlib
import errno
import io
import os
import socket
import subprocess
import unittest
from pathlib import Path

import lab
from nodewise_lab import cli, protocol, vm
from nodewise_lab.errors import LabError, Reporter, printable
from nodewise_lab.progress import Progress


class Unwritable(unittest.TestCase):
    """An error and a hint that names the variable to set, whichever folder cannot be written."""

    PLACES = (
        {"HOME": "/dev/null"},
        {"HOME": "/proc/no-such"},
        {"HOME": "/root", "XDG_CACHE_HOME": "/dev/null/cache"},
        {"HOME": "/root", "NODEWISE_CACHE": "/dev/null/cache"},
    )
    KERNELS = ({}, {"NODEWISE_KERNEL_DEB": __file__})
    VERBS = (("run", "--machine", lab.TWO_NODES, "--", "true"), ("selftest", "--machine", lab.TWO_NODES), ("kernel", "fetch"))

    def refused(self, variables: dict[str, str], *verb: object) -> str:
        left = {"HOME", "XDG_CACHE_HOME", "NODEWISE_CACHE", "NODEWISE_KERNEL", "NODEWISE_KERNEL_DEB"}
        plain = {name: value for name, value in os.environ.items() if name not in left}
        done = subprocess.run(
            lab.runner(*verb), capture_output=True, text=True, env=plain | variables, stdin=subprocess.DEVNULL
        )
        self.assertEqual((done.returncode, done.stdout), (125, ""), (variables, verb, done.stderr))
        return done.stderr

    def test_the_cache(self):
        for place in self.PLACES:
            for kernel in self.KERNELS:
                for verb in self.VERBS if not kernel else self.VERBS[:2]:
                    with self.subTest(place=place, kernel=kernel, verb=verb):
                        said = self.refused(place | kernel, *verb)
                        self.assertRegex(said, r"\Anodewise: lab: cannot .*: .*\n    hint: .*export NODEWISE_CACHE=DIR.*\n\Z")

    def test_a_file_in_place_of_a_folder_of_the_cache(self):
        folder = Path(self.enterContext(lab.tempfile.TemporaryDirectory()))
        (folder / "locks").write_text("")
        said = self.refused({"NODEWISE_CACHE": str(folder)} | self.KERNELS[1], *self.VERBS[0])
        self.assertRegex(said, r"\Anodewise: lab: cannot .*: .*\n    hint: .*export NODEWISE_CACHE=DIR.*\n\Z")

    def test_temporary_files(self):
        none = FileNotFoundError(errno.ENOENT, "No usable temporary directory found in ['/tmp']")
        self.assertIn("export TMPDIR=DIR", str(cli._failure(none)))
        full = OSError(errno.ENOSPC, "No space left on device")
        self.assertIn("TMPDIR", str(cli._failure(full)))


class Waiting(unittest.TestCase):
    """What takes long shows a line on a terminal, and nothing elsewhere."""

    class Terminal(io.StringIO):
        def isatty(self) -> bool:
            return True

    def written(self, stream: io.StringIO, reporter: Reporter, *moments: float) -> str:
        clock = [0.0]
        with Progress("starting", reporter, stream, lambda: clock[0]) as shown:
            for clock[0] in moments:
                shown.tick()
        return stream.getvalue()

    def test_on_a_terminal_after_two_seconds(self):
        erase = "\r\x1b[K"
        self.assertEqual(self.written(self.Terminal(), Reporter(), 0.5, 1.9), "")
        shown = self.written(self.Terminal(), Reporter(), 1.9, 2.0, 2.1, 3.0)
        self.assertEqual(shown, f"{erase}starting  2 s{erase}starting  3 s{erase}")

    def test_elsewhere_and_in_quiet_nothing(self):
        self.assertEqual(self.written(io.StringIO(), Reporter(), 5, 10), "")
        self.assertEqual(self.written(self.Terminal(), Reporter(quiet=True), 5, 10), "")

    def test_a_boot_ticks(self):
        machine = vm.VirtualMachine.__new__(vm.VirtualMachine)
        machine.port, guest = socket.socketpair()
        machine.decoder = protocol.Decoder()
        self.addCleanup(machine.port.close)
        self.addCleanup(guest.close)
        ticks = []

        def tick() -> None:
            ticks.append(1)
            if len(ticks) == 2:  # after a wait
                guest.send(protocol.encode(protocol.FrameType.READY))

        machine.wait_until_ready(tick)
        self.assertGreaterEqual(len(ticks), 2)


class Messages(unittest.TestCase):
    def test_control_characters_become_escapes(self):
        self.assertEqual(printable("a\tb\nä日"), "a\tb\nä日")
        self.assertEqual(printable("\x1b[2J\x07\x7f\x9b\r\u202e\udc9b"),
                         r"\x1b[2J\x07\x7f\xc2\x9b\r\xe2\x80\xae\x9b".replace(r"\r", r"\x0d"))

    def test_an_error_has_its_hint_in_a_second_line(self):
        told = io.StringIO()
        with contextlib.redirect_stderr(told):
            Reporter().error(LabError("cannot read the file X", "No such file", "check it with: ls -l X"))
        self.assertEqual(
            told.getvalue(), "nodewise: lab: cannot read the file X: No such file\n    hint: check it with: ls -l X\n"
        )

    def test_an_error_of_the_guest_keeps_its_three_parts_and_its_status(self):
        error = vm.failure_of_guest(b"\x7f\0\0\0cannot run 'x'\0No such file\0check PATH\0")
        self.assertEqual((error.status, str(error)), (127, "cannot run 'x': No such file\n    hint: check PATH"))

    def test_the_runner_prints_none(self):
        done = subprocess.run(lab.runner("run", "--machine", "/no/\x1b[2J.json", "--", "true"), capture_output=True)
        self.assertIn(rb"/no/\x1b[2J.json", done.stderr)


if __name__ == "__main__":
    unittest.main()
