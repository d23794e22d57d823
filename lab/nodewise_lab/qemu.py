# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Finds QEMU, and builds the options for a machine."""

import re
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from . import protocol, quirks
from .errors import LabError
from .layout import Layout, layout_of
from .machine import Machine

PROGRAM = "qemu-system-x86_64"
INSTALL = "install QEMU: sudo apt-get install qemu-system-x86"


@dataclass(frozen=True)
class Qemu:
    program: str
    version_text: str  # as QEMU prints it, with the distribution's revision
    version: quirks.QemuVersion
    firmware: tuple[str, ...]  # the -bios option, or nothing for QEMU's default


def find() -> Qemu:
    program = shutil.which(PROGRAM)
    if program is None:
        raise LabError(f"cannot find {PROGRAM}, which emulates the machine", "it is not in PATH", INSTALL)
    version_text = _output(program, "--version").splitlines()[0]
    match = re.search(r"version (\d+)\.(\d+)\.(\d+)", version_text)
    numbers = tuple(map(int, match.groups())) if match else ()
    if numbers < quirks.OLDEST_QEMU:
        oldest = ".".join(map(str, quirks.OLDEST_QEMU))
        answered = f"version {oldest} or later is needed, and this is '{version_text}'"
        raise LabError(f"cannot use {program}", answered, "install a newer QEMU, and put its folder first in PATH")
    return Qemu(program, version_text, numbers, _firmware(program))


def require_network(qemu: Qemu) -> None:
    if qemu.version < quirks.OLDEST_QEMU_WITH_NETWORK:
        oldest = ".".join(map(str, quirks.OLDEST_QEMU_WITH_NETWORK))
        answered = f"version {oldest} or later is needed, and this is '{qemu.version_text}'"
        raise LabError("cannot start a cluster", answered, "install a newer QEMU, and put its folder first in PATH")


def _output(*command: str) -> str:
    result = subprocess.run(command, capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        answered = result.stderr.strip() or f"exit status {result.returncode}"
        raise LabError(f"cannot run '{' '.join(command)}'", answered, INSTALL)
    return result.stdout


def _firmware(program: str) -> tuple[str, ...]:
    """qboot starts a kernel 0.4 s earlier than SeaBIOS, but not every distribution has it."""
    directories = [Path("/usr/share/qemu"), Path(program).resolve().parent.parent / "share/qemu"]
    if any((directory / "qboot.rom").is_file() for directory in directories):
        return ("-bios", "qboot.rom")
    return ()


def machine_arguments(machine: Machine) -> list[str]:
    """The board with its processors, memories, distances and costs, and the kernel's options for them."""
    layout = checked_layout(machine)
    costs = _cost_arguments(machine)
    return [
        "-machine", "q35,hmat=on" if costs else "q35",
        "-cpu", quirks.cpu_model(layout.threads),
        "-m", f"{machine.memory_bytes >> 20}M",
        *_cpu_arguments(layout),
        *_node_arguments(machine, layout, bool(costs)),
        *costs,
        "-append", " ".join(quirks.boot_options(layout)),
    ]  # fmt: skip


def checked_layout(machine: Machine) -> Layout:
    try:
        return layout_of(machine)
    except ValueError as error:
        hint = "change the machine file; share/doc/nodewise/lab.md, 'Limits', describes what is possible"
        raise LabError(f"cannot build the machine {machine.name}", str(error), hint) from error


def _cpu_arguments(layout: Layout) -> list[str]:
    present = layout.present
    # QEMU plugs in these first slots by itself.
    leading = next((i for i, slot in enumerate(present) if layout.index(slot) != i), len(present))
    shape = f"sockets={layout.sockets},cores={layout.cores},threads={layout.threads}"
    arguments = ["-smp", f"cpus={leading},maxcpus={layout.slot_count},{shape}"]
    for slot in present[leading:]:
        place = f"socket-id={slot.socket},core-id={slot.core},thread-id={slot.thread}"
        arguments += ["-device", f"{quirks.HOTPLUG_CPU_TYPE},{place}"]
    return arguments


def _node_arguments(machine: Machine, layout: Layout, with_costs: bool) -> list[str]:
    arguments: list[str] = []
    nodes = {node.id: node for node in machine.online_nodes}
    numbers = range(max(nodes) + 1)
    for id in numbers:
        node = nodes.get(id)
        option = f"node,nodeid={id}"
        if node and node.memory_bytes:
            arguments += ["-object", f"memory-backend-ram,id=memory{id},size={node.memory_bytes >> 20}M"]
            option += f",memdev=memory{id}"
        if with_costs:
            option += f",initiator={_nearest_initiator(machine, id)}"
        arguments += ["-numa", option]
    for socket, id in enumerate(layout.socket_nodes):
        arguments += ["-numa", f"cpu,node-id={id},socket-id={socket}"]
    for a in numbers:
        for b in numbers:
            # The guest never shows distances of a missing node, but QEMU needs the complete table.
            distance = machine.distances.get((a, b), 10 if a == b else 254)
            arguments += ["-numa", f"dist,src={a},dst={b},val={distance}"]
    return arguments


def _nearest_initiator(machine: Machine, target: int) -> int:
    initiators = [node.id for node in machine.online_nodes if node.cpus]
    if target in initiators:
        return target
    return min(initiators, key=lambda id: (machine.distances.get((id, target), 255), id))


def _cost_arguments(machine: Machine) -> list[str]:
    """The HMAT, if every latency and bandwidth is known: a gap would mean that there is no path."""
    initiators = [node.id for node in machine.online_nodes if node.cpus]
    targets = [node.id for node in machine.online_nodes if node.memory_bytes]
    known = {(p.name, p.source_node, p.target_node): p.value for p in machine.parameters}
    arguments: list[str] = []
    for a in initiators:
        for b in targets:
            latency, bandwidth = known.get(("latency", a, b)), known.get(("bandwidth", a, b))
            if latency is None or bandwidth is None:
                return []
            head = f"hmat-lb,initiator={a},target={b},hierarchy=memory,data-type=access"
            arguments += ["-numa", f"{head}-latency,latency={round(latency)}"]
            arguments += ["-numa", f"{head}-bandwidth,bandwidth={quirks.bandwidth_argument(bandwidth)}"]
    return arguments


def device_arguments(port_fd: int, console_fd: int, monitor_fd: int, work_directory: str) -> list[str]:
    """The devices between guest and host. QEMU inherits the sockets, so they have no path to open."""
    return [
        "-nodefaults", "-no-user-config", "-display", "none", "-no-reboot",
        "-chardev", f"file,id=console,path=/dev/fd/{console_fd}",
        "-serial", "chardev:console",
        "-chardev", f"socket,id=monitor,fd={monitor_fd}",
        "-mon", "chardev=monitor,mode=control",
        "-chardev", f"socket,id=port,fd={port_fd}",
        "-device", "virtio-serial-pci,max_ports=2",
        "-device", f"virtserialport,chardev=port,nr=1,name={protocol.PORT_NAME}",
        "-fsdev", "local,id=root,path=/,security_model=none,readonly=on,multidevs=remap",
        "-device", f"virtio-9p-pci,fsdev=root,mount_tag={protocol.HOST_ROOT_TAG}",
        "-fsdev", f"local,id=work,path={_escape(work_directory)},security_model=none,multidevs=remap",
        "-device", f"virtio-9p-pci,fsdev=work,mount_tag={protocol.WORK_TAG}",
    ]  # fmt: skip


def _escape(path: str) -> str:
    """A comma inside a value of a QEMU option is written twice."""
    return path.replace(",", ",,")
