# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs a command on a machine, from its start to its end."""

import contextlib
import signal
import time
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import cluster, counting, disk, initrd, job, kernel, network, qemu, quirks, slurm, snapshot, terminal, vm
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
    counts: tuple[Path, ...] = ()  # the files for the counted traffic, one for each host; empty: do not count
    grace_seconds: float = 0  # between SIGTERM at the time limit and the end of the machine
    others: tuple[Machine, ...] = ()  # the other hosts of a cluster; the command runs on `machine`
    slurm: bool = False  # a cluster, maybe of one host, on which Slurm runs
    disk_bytes: int = 0  # of the scratch disk of each host; 0: it has none


def run(request: Request, inbox: SignalInbox, reporter: Reporter, fds: tuple[int, int, int] = (0, 1, 2)) -> int:
    """Returns the command's exit code, or minus the number of the signal that ended it."""
    deadline = time.monotonic() + request.timeout_seconds if request.timeout_seconds else None
    group = _cluster_of(request)
    with contextlib.ExitStack() as stack:
        first, *others = _started(request, group, stack, reporter)
        beside = list(zip(group.hosts[1:], others, strict=True)) if group else []
        for host, guest in beside:
            # What a launcher starts there does not announce itself.
            settings = replace(request.settings, tty=False, count="command" if request.counts else "")
            its_job = job.describe(
                group.command_of(host), settings, host.machine.name, group.membership_of(host)
            )
            stack.enter_context(cluster.Server(host, guest, its_job, inbox, reporter))
        if request.settings.tty:
            stack.enter_context(terminal.raw())
            inbox.watch_window_size()
        inbox.forwarding = True
        relay = Relay(first, inbox, reporter, deadline, fds, request.grace_seconds)
        status = relay.run(_job_of_first(request, group))
        _explain(status, first, request.machine, reporter)
        for host, guest in beside:
            _explain_memory(guest, host.machine, reporter)
    return status


def _cluster_of(request: Request) -> cluster.Cluster | None:
    if not request.others and not request.slurm:
        return None
    daemons = slurm.find() if request.slurm else None
    return cluster.Cluster(cluster.hosts_of((request.machine, *request.others)), daemons)


def _job_of_first(request: Request, group: cluster.Cluster | None) -> bytes:
    name = request.machine.name
    if group is None:
        return job.describe(request.command, request.settings, name)
    host = group.hosts[0]
    return job.describe(group.command_of(host, request.command), request.settings, name, group.membership_of(host))


def _started(
    request: Request, group: cluster.Cluster | None, stack: contextlib.ExitStack, reporter: Reporter
) -> list[vm.VirtualMachine]:
    """The machine, or the machines of a cluster in their order, each waiting for its job until the stack ends."""
    guest_kernel = kernel.ensure(reporter)
    emulator = qemu.find()
    machines = (request.machine, *request.others)
    for warning in dict.fromkeys(text for each in machines for text in qemu.checked_layout(each).warnings):
        reporter.warning(warning)
    without = () if request.disk_bytes else guest_kernel.for_disk
    image = initrd.build(tuple(file for file in guest_kernel.modules if file not in without))
    blueprints = [vm.Blueprint(emulator, guest_kernel, image, each) for each in machines]
    if request.disk_bytes:
        disks = [stack.enter_context(disk.formatted(request.disk_bytes)) for _ in machines]
        blueprints = [
            replace(each, disk_fd=fd, disk_bytes=request.disk_bytes) for each, fd in zip(blueprints, disks, strict=True)
        ]
    if request.counts:
        counters = [
            stack.enter_context(counting.prepare(machine, emulator, file))
            for machine, file in zip(machines, request.counts, strict=True)
        ]
        blueprints = [replace(each, counting=counter) for each, counter in zip(blueprints, counters, strict=True)]
    if group:
        qemu.require_network(emulator)
        switch = stack.enter_context(network.Switch(len(group.hosts)))
        blueprints = [replace(each, network_fd=switch.fd_of(number)) for number, each in enumerate(blueprints, 1)]
    guests = []
    for blueprint in blueprints:
        guest = snapshot.ready_machine(
            blueprint, blueprint.machine.name, job.working_directory(), request.use_snapshot, reporter
        )
        guests.append(stack.enter_context(guest))
        stack.callback(_report_modes, guest, reporter)
    return guests


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
    _explain_memory(machine, wanted, reporter)


def _explain_memory(machine: vm.VirtualMachine, wanted: Machine, reporter: Reporter) -> None:
    if _OUT_OF_MEMORY in machine.console_text():
        size = wanted.memory_bytes >> 20
        hint = "increase lab.memory_bytes_per_node in the machine file"
        reporter.warning(with_hint(f"the guest ran out of memory ({size} MiB in total) and killed a process", hint))
