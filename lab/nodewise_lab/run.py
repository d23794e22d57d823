# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs a command on a machine, from its start to its end."""

import contextlib
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import counting, initrd, job, kernel, qemu, quirks, snapshot, terminal, vm
from .errors import Reporter, with_hint
from .job import Settings
from .machine import Machine
from .relay import Relay
from .signals import SignalInbox

_OUT_OF_MEMORY = "Out of memory: Killed process"
_UNFINISHED = ".nodewise-unfinished-"  # guest/roots.c


@dataclass(frozen=True)
class Request:
    machine: Machine
    command: list[str]
    settings: Settings = field(default_factory=Settings)
    timeout_seconds: float = 0  # 0: none
    use_snapshot: bool = True
    counts: Path | None = None  # the file for the counted traffic
    grace_seconds: float = 0  # between SIGTERM at the time limit and the end of the machine


def run(request: Request, inbox: SignalInbox, reporter: Reporter, fds: tuple[int, int, int] = (0, 1, 2)) -> int:
    """Returns the command's exit code, or minus the number of the signal that ended it."""
    deadline = time.monotonic() + request.timeout_seconds if request.timeout_seconds else None
    guest_kernel = kernel.ensure(reporter)
    emulator = qemu.find()
    blueprint = vm.Blueprint(emulator, guest_kernel, initrd.build(guest_kernel.modules), request.machine)
    for warning in qemu.checked_layout(request.machine).warnings:
        reporter.warning(warning)
    with contextlib.ExitStack() as stack:
        if request.counts:
            counter = counting.prepare(request.machine, emulator, request.counts)
            blueprint = replace(blueprint, counting=stack.enter_context(counter))
        machine = stack.enter_context(
            snapshot.ready_machine(
                blueprint, request.machine.name, job.working_directory(), request.use_snapshot, reporter
            )
        )
        stack.callback(_report_modes, machine, reporter)
        if request.settings.tty:
            stack.enter_context(terminal.raw())
            inbox.watch_window_size()
        inbox.forwarding = True
        relay = Relay(machine, inbox, reporter, deadline, fds, request.grace_seconds)
        status = relay.run(job.describe(request.command, request.settings, request.machine.name))
        _explain(status, machine, request.machine, reporter)
    return status


def _report_modes(machine: vm.VirtualMachine, reporter: Reporter) -> None:
    if not machine.modes:
        return
    for name in dict.fromkeys(map(_shown, machine.modes.stripped)):
        reporter.warning(f"{name}: written without setuid and setgid bits, because root started the lab")
    if machine.modes.missing:
        reporter.detail(f"setuid and setgid bits of files are not checked: {machine.modes.missing}")


def _shown(name: str) -> str:
    """The name to print. Changes of the overlay are copied under another name first: prints their folder."""
    directory, _, file = name.rpartition("/")
    return f"files copied to {directory}" if file.startswith(_UNFINISHED) else name


def _explain(status: int, machine: vm.VirtualMachine, wanted: Machine, reporter: Reporter) -> None:
    """Warns if the virtual machine is the reason for the command's end."""
    if known := quirks.SIGNAL_REASONS.get(-status):
        reason, hint = known
        reporter.warning(with_hint(f"the command died by {signal.Signals(-status).name}: {reason}", hint))
    if _OUT_OF_MEMORY in machine.console_text():
        size = wanted.memory_bytes >> 20
        hint = "increase lab.memory_bytes_per_node in the machine file"
        reporter.warning(with_hint(f"the guest ran out of memory ({size} MiB in total) and killed a process", hint))
