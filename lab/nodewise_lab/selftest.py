# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Checks that the guest matches the machine file and that its kernel supports placement."""

import os
import re
import shlex
import tempfile

from . import initrd
from .errors import STATUS_LAB_FAILED, Reporter
from .layout import layout_of
from .machine import MIB, Machine, Node, parse_list
from .run import Request, run
from .signals import SignalInbox

# The kernel reserves memory for its image and tables (on the first node with memory), for a descriptor of
# each page, and at the end of a range that fills no allocation block.
_KERNEL_BYTES = 96 * MIB
_OVERHEAD_BYTES = 16 * MIB
_OVERHEAD_SHARE = 0.03

_SHOW = """
cd /sys/devices/system/node
for file in online has_cpu has_memory node[0-9]*/cpulist node[0-9]*/distance node[0-9]*/meminfo \
    node[0-9]*/access0/initiators/read_latency node[0-9]*/access0/initiators/read_bandwidth; do
  [ -r "$file" ] && sed "s|^|$file |" "$file"
done
echo "siblings $(cat /sys/devices/system/cpu/cpu0/topology/thread_siblings_list)"
exec {probe} probe
"""


def run_on(machine: Machine, inbox: SignalInbox, reporter: Reporter, use_snapshot: bool) -> int:
    script = _SHOW.replace("{probe}", shlex.quote(str(initrd.guest_init())))
    request = Request(machine, ["sh", "-c", script], timeout_seconds=300, use_snapshot=use_snapshot)
    with tempfile.TemporaryFile() as output, open(os.devnull, "rb") as nothing:
        status = run(request, inbox, reporter, fds=(nothing.fileno(), output.fileno(), 2))
        output.seek(0)
        shown = output.read().decode()
    lines = [line for line in shown.splitlines() if line.startswith(("ok ", "FAILED "))]
    lines += _compare(machine, _View(shown))
    print("\n".join(lines))
    failed = status != 0 or any(line.startswith("FAILED") for line in lines)
    print(f"{machine.name}: the guest {'differs from' if failed else 'matches'} the machine file")
    return STATUS_LAB_FAILED if failed else 0


class _View:
    """The contents of the guest's sysfs, by file name."""

    def __init__(self, text: str):
        self._lines: dict[str, list[str]] = {}
        for line in text.splitlines():
            name, _, value = line.partition(" ")
            self._lines.setdefault(name, []).append(value)

    def text(self, name: str) -> str:
        return "\n".join(self._lines.get(name, []))

    def numbers(self, name: str) -> tuple[int, ...]:
        return parse_list(self.text(name))

    def total_bytes(self, node: int) -> int:
        match = re.search(r"MemTotal:\s+(\d+) kB", self.text(f"node{node}/meminfo"))
        return int(match.group(1)) << 10 if match else 0


def _compare(machine: Machine, view: _View) -> list[str]:
    nodes = machine.online_nodes
    results = [
        _result("nodes online", tuple(node.id for node in nodes), view.numbers("online")),
        _result("nodes with processors", tuple(n.id for n in nodes if n.cpus), view.numbers("has_cpu")),
        _result("nodes with memory", tuple(n.id for n in nodes if n.memory_bytes), view.numbers("has_memory")),
    ]
    for node in nodes:
        row = " ".join(str(machine.distances[node.id, other.id]) for other in nodes)
        results += [
            _result(f"processors of node {node.id}", node.cpus, view.numbers(f"node{node.id}/cpulist")),
            _result(f"distances of node {node.id}", row, view.text(f"node{node.id}/distance")),
            _memory_result(machine, node, view.total_bytes(node.id)),
        ]
    threads = layout_of(machine).threads
    results.append(_result("hardware threads per core", threads, len(view.numbers("siblings"))))
    return results + _cost_results(machine, view)


def _result(what: str, wanted: object, seen: object) -> str:
    return f"ok {what}: {seen}" if wanted == seen else f"FAILED {what}: {seen} instead of {wanted}"


def _memory_result(machine: Machine, node: Node, seen: int) -> str:
    first = next(n.id for n in machine.online_nodes if n.memory_bytes)
    reserve = _OVERHEAD_BYTES + int(node.memory_bytes * _OVERHEAD_SHARE)
    if node.id == first:
        reserve += _KERNEL_BYTES
    good = node.memory_bytes - reserve <= seen <= node.memory_bytes
    text = f"memory of node {node.id}: {seen // MIB} of {node.memory_bytes // MIB} MiB"
    return f"ok {text}" if good else f"FAILED {text}: more is missing than the kernel reserves"


def _cost_results(machine: Machine, view: _View) -> list[str]:
    """Linux shows each memory's costs from its best initiator only. A machine file may have no costs."""
    results = []
    for node in machine.online_nodes:
        latency = view.text(f"node{node.id}/access0/initiators/read_latency")
        if not latency:
            continue
        known = [p.value for p in machine.parameters if p.name == "latency" and p.target_node == node.id]
        results.append(_result(f"latency of node {node.id} in ns", str(round(min(known))), latency))
    return results
