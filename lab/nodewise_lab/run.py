# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""From a machine file and a command to the command's end."""

import contextlib
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import counting, initrd, job, kernel, qemu, quirks, snapshot, terminal, vm
from .errors import Reporter
from .job import Settings
from .machine import Machine
from .relay import Relay
from .signals import SignalInbox

_OUT_OF_MEMORY = "Out of memory: Killed process"
_UNFINISHED = ".nodewise-unfinished-"  # guest/writeback.c


@dataclass(frozen=True)
class Request:
    machine: Machine
    command: list[str]
    settings: Settings = field(default_factory=Settings)
    timeout_seconds: float = 0  # 0: none
    use_snapshot: bool = True
    counts: Path | None = None  # where the traffic that was counted is to be written
    grace_seconds: float = 0  # what the command has after the time limit, to end by itself


def run(
    request: Request, inbox: SignalInbox, reporter: Reporter, fds: tuple[int, int, int] = (0, 1, 2)
) -> int:
    """The command's exit code, or minus the signal that ended it."""
    deadline = time.monotonic() + request.timeout_seconds if request.timeout_seconds else None
    guest_kernel = kernel.ensure(reporter)
    emulator = qemu.find()
    blueprint = vm.blueprint(
        emulator, guest_kernel, initrd.build(guest_kernel.modules), request.machine
    )
    for warning in qemu.layout_warnings(request.machine):
        reporter.warning(warning)
    with contextlib.ExitStack() as stack:
        if request.counts:
            counter = counting.prepare(request.machine, emulator, request.counts)
            blueprint = replace(blueprint, counting=stack.enter_context(counter))
        machine = stack.enter_context(
            snapshot.ready_machine(
                blueprint,
                request.machine.name,
                job.working_directory(),
                request.use_snapshot,
                reporter,
            )
        )
        stack.callback(_tell_modes, machine, reporter)
        if request.settings.tty:
            stack.enter_context(terminal.raw())
            inbox.watch_window_size()
        inbox.start_forwarding()
        relay = Relay(machine, inbox, reporter, deadline, fds, request.grace_seconds)
        status = relay.run(job.describe(request.command, request.settings, request.machine.name))
        _explain(status, machine, request.machine, reporter)
    return status


def _tell_modes(machine: vm.VirtualMachine, reporter: Reporter) -> None:
    if not machine.modes:
        return
    for name in dict.fromkeys(map(_shown, machine.modes.stripped)):
        reporter.warning(
            f"{name}: written without setuid and setgid bits, since the lab was started by root"
        )
    if machine.modes.missing:
        reporter.detail(f"modes of files are not watched: {machine.modes.missing}")


def _shown(name: str) -> str:
    """Names the folder for changes of the overlay, which are copied under another name first."""
    directory, _, file = name.rpartition("/")
    return f"files copied to {directory}" if file.startswith(_UNFINISHED) else name


def _explain(status: int, machine: vm.VirtualMachine, wanted: Machine, reporter: Reporter) -> None:
    """What the virtual machine has to do with the command's end, if anything."""
    if hint := quirks.SIGNAL_HINTS.get(-status):
        reporter.warning(f"the command died by {signal.Signals(-status).name}: {hint}")
    if _OUT_OF_MEMORY in machine.console_text():
        size = wanted.memory_bytes >> 20
        cure = "raise lab.memory_bytes_per_node in the machine file"
        reporter.warning(
            f"the guest, {size} MiB in all, ran out of memory and killed a process; cure: {cure}"
        )
