# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""One QEMU process with its channels, until its guest waits for a job."""

import ctypes
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import BinaryIO

from . import disk, network, quirks
from .counting import Counting
from .errors import RETRY_HINT, LabError
from .kernel import Kernel
from .modes import ModeGuard
from .progress import TICK_SECONDS
from .protocol import Decoder, FrameType
from .machine import Machine
from .qemu import Qemu, device_arguments, machine_arguments
from .qmp import Qmp, QmpError

BOOT_SECONDS = 180
_CONSOLE_TAIL_LINES = 25
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


@dataclass(frozen=True)
class Blueprint:
    """Everything that determines a booted guest. Guests of the same blueprint have the same snapshot."""

    qemu: Qemu
    kernel: Kernel
    initrd: bytes
    machine: Machine
    counting: Counting | None = None  # not a part of the snapshot
    network_fd: int | None = None  # the host's cable in a cluster
    disk_fd: int | None = None  # its scratch disk
    disk_bytes: int = 0

    @property
    def identity(self) -> list[str]:
        options = [*machine_arguments(self.machine), *device_arguments(0, 0, 0, "/")]
        if self.network_fd is not None:
            options += network.device_arguments(0)
        if self.disk_fd is not None:
            options += disk.device_arguments(0, self.disk_bytes)
        return [self.qemu.version_text, *self.qemu.firmware, self.kernel.entry.key, *options]


class VirtualMachine:
    """Starts QEMU at once. A context manager: at its end QEMU ends, too, also after an exception."""

    def __init__(self, blueprint: Blueprint, work_directory: str, incoming: bool = False):
        self.decoder = Decoder()
        self.console: BinaryIO = tempfile.TemporaryFile()
        self._complaints: BinaryIO = tempfile.TemporaryFile()
        self.port, qemu_port = socket.socketpair()
        monitor, qemu_monitor = socket.socketpair()
        self._monitor = monitor
        # Only for root: a setuid program of root would stay on the host after the virtual machine.
        self.modes = ModeGuard() if os.geteuid() == 0 else None
        counting, cable, scratch = blueprint.counting, blueprint.network_fd, blueprint.disk_fd
        with qemu_port, qemu_monitor, tempfile.TemporaryFile() as initrd:
            initrd.write(blueprint.initrd)
            initrd.flush()
            channels = (qemu_port.fileno(), self.console.fileno(), qemu_monitor.fileno())
            command = [
                blueprint.qemu.program, *machine_arguments(blueprint.machine), *blueprint.qemu.firmware,
                "-accel", quirks.accelerator(
                    blueprint.machine.cpu_count, blueprint.qemu.version, counting is not None
                ),
                "-kernel", str(blueprint.kernel.image), "-initrd", f"/dev/fd/{initrd.fileno()}",
                *device_arguments(*channels, work_directory),
                *(network.device_arguments(cable) if cable is not None else ()),
                *(disk.device_arguments(scratch, blueprint.disk_bytes) if scratch is not None else ()),
                *(("-incoming", "defer") if incoming else ()),
                *(counting.arguments if counting else ()),
            ]  # fmt: skip
            inherited = (
                *channels, initrd.fileno(), *(fd for fd in (cable, scratch) if fd is not None),
                *((counting.machine_fd, counting.result_fd) if counting else ()),
            )  # fmt: skip
            self.process = self._start(command, inherited)
            try:
                self.qmp = Qmp(monitor)  # QEMU answers once it has opened everything it inherited
            except QmpError as error:
                raise self.failure("cannot start QEMU", str(error)) from error
            except BaseException:
                self.end()
                raise

    def _start(self, command: list[str], inherited: tuple[int, ...]) -> subprocess.Popen[bytes]:
        # In a session of its own, because Ctrl-C at the terminal is for the command, not for QEMU.
        process = subprocess.Popen(
            command, stdin=subprocess.DEVNULL, stdout=self._complaints, stderr=self._complaints,
            pass_fds=inherited, start_new_session=True, preexec_fn=self._prepare,
        )  # fmt: skip
        if self.modes:
            self.modes.watch()
        return process

    def _prepare(self) -> None:
        # If the runner is killed, it cannot end QEMU; the kernel ends QEMU then.
        _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
        if self.modes:
            self.modes.install()

    def __enter__(self) -> "VirtualMachine":
        return self

    def __exit__(self, *_: object) -> None:
        self.end()

    def end(self) -> None:
        self.process.kill()
        self.process.wait()
        if self.modes:
            self.modes.end()
        self.port.close()
        self._monitor.close()

    def wait_until_ready(self, tick: Callable[[], None] = lambda: None) -> None:
        """Returns when init reports that it waits for a job. Calls `tick` in the meantime."""
        deadline = time.monotonic() + BOOT_SECONDS
        while True:
            tick()
            self.port.settimeout(min(max(deadline - time.monotonic(), 0.001), TICK_SECONDS))
            try:
                data = self.port.recv(65536)
            except TimeoutError:
                if time.monotonic() < deadline:
                    continue
                raise self.failure(
                    "cannot boot the virtual machine", f"it was not ready after {BOOT_SECONDS} s"
                ) from None
            if not data:
                raise self.failure("cannot boot the virtual machine", "QEMU ended") from None
            for frame, payload in self.decoder.feed(data):
                if frame == FrameType.READY:
                    self.port.settimeout(None)
                    return
                if frame == FrameType.FAILURE:
                    raise failure_of_guest(payload)

    def console_text(self) -> str:
        return _text_of(self.console).replace("\r", "")

    def failure(self, asked: str, answered: str) -> LabError:
        """The error with the messages of QEMU and the end of the guest's console."""
        said = _text_of(self._complaints).strip()
        console = "\n".join(self.console_text().strip().splitlines()[-_CONSOLE_TAIL_LINES:])
        if said:
            answered += f"; QEMU reports: {said}"
        if console:
            answered += f"; the guest's console ends with:\n{console}"
        self.end()
        return LabError(asked, answered, RETRY_HINT)


def _text_of(file: BinaryIO) -> str:
    return os.pread(file.fileno(), os.fstat(file.fileno()).st_size, 0).decode(errors="replace")


def failure_of_guest(payload: bytes) -> LabError:
    """The error that init reports."""
    status = int.from_bytes(payload[:4], "little")
    asked, answered, hint = payload[4:].decode(errors="replace").split("\0")[:3]
    return LabError(asked, answered, hint, status)
