# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Maps a machine's processors and nodes to sockets and slots of QEMU's board.

Linux numbers processors as the firmware lists them: by socket, core, thread. It numbers nodes in the
order in which the firmware's affinity table (SRAT) first names them: processors first, then memories.
Hence two methods:

* The firmware also lists empty slots (processors that could be plugged in). So a node that is missing or
  has no processors gets an empty socket if its number must stay free.
* If processor numbers jump between nodes, each processor becomes a socket of its own.
"""

from dataclasses import dataclass

from .machine import Machine, Node


@dataclass(frozen=True)
class Slot:
    socket: int
    core: int
    thread: int


@dataclass(frozen=True)
class Layout:
    sockets: int
    cores: int
    threads: int
    socket_nodes: tuple[int, ...]  # node number of each socket
    present: tuple[Slot, ...]  # in the order of Linux's numbers
    warnings: tuple[str, ...]

    @property
    def slot_count(self) -> int:
        return self.sockets * self.cores * self.threads

    def index(self, slot: Slot) -> int:
        return (slot.socket * self.cores + slot.core) * self.threads + slot.thread

    def apic_id(self, slot: Slot) -> int:
        """The interrupt controller's number: bit fields, each as wide as its largest value needs."""
        thread_bits = (self.threads - 1).bit_length()
        core_bits = (self.cores - 1).bit_length()
        return (slot.socket << core_bits | slot.core) << thread_bits | slot.thread

    @property
    def apic_ids_have_gaps(self) -> bool:
        return [self.apic_id(slot) for slot in self.present] != list(range(len(self.present)))


def layout_of(machine: Machine) -> Layout:
    nodes = {node.id: node for node in machine.online_nodes}
    numbering = [cpu for node in machine.online_nodes for cpu in node.cpus]
    in_order = numbering == list(range(len(numbering)))
    layout = _one_socket_per_node(machine, nodes) if in_order else _one_socket_per_cpu(nodes)
    _check(layout, machine)
    return layout


def _one_socket_per_node(machine: Machine, nodes: dict[int, Node]) -> Layout:
    threads = 1 if machine.cores_jump else machine.threads_per_core
    with_cpus = [id for id, node in nodes.items() if node.cpus]
    uneven = [id for id in with_cpus if len(nodes[id].cpus) % threads]
    if uneven:
        raise ValueError(
            f"node {uneven[0]} has {len(nodes[uneven[0]].cpus)} processors, not a multiple of the {threads} per core"
        )
    missing = [id for id in range(max(nodes)) if id not in nodes]
    sockets = tuple(range(max(with_cpus + missing) + 1))  # nodes without processors get an empty socket
    cores = max(len(nodes[id].cpus) for id in with_cpus) // threads
    present = tuple(
        Slot(id, index // threads, index % threads) for id in with_cpus for index in range(len(nodes[id].cpus))
    )
    warning = "the processors of a core do not have neighbouring numbers: the guest shows one processor per core"
    return Layout(len(sockets), cores, threads, sockets, present, (warning,) if machine.cores_jump else ())


def _one_socket_per_cpu(nodes: dict[int, Node]) -> Layout:
    owner = {cpu: node.id for node in nodes.values() for cpu in node.cpus}
    if sorted(owner) != list(range(len(owner))):
        raise ValueError("its processor numbers have gaps, which QEMU does not support")
    sockets = tuple(owner[cpu] for cpu in sorted(owner))
    warning = "processor numbers jump between nodes: the guest shows each processor as a package of its own"
    present = tuple(Slot(cpu, 0, 0) for cpu in range(len(owner)))
    return Layout(len(owner), 1, 1, sockets, present, (warning,))


def _check(layout: Layout, machine: Machine) -> None:
    order = list(dict.fromkeys(layout.socket_nodes))
    order += [node.id for node in machine.online_nodes if node.id not in order]
    if order != list(range(len(order))):
        raise ValueError(f"Linux would number its nodes {order}; renumber the nodes or processors")
    if not layout.present or layout.index(layout.present[0]) != 0:
        raise ValueError("node 0 must have a processor, because the machine starts on it")
    last = Slot(layout.sockets - 1, layout.cores - 1, layout.threads - 1)
    if layout.apic_id(last) > 254:
        raise ValueError("its sockets need interrupt numbers above 254; use fewer nodes or processors")
