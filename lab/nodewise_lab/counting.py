# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The traffic counter of a run: its plug-in, the machine that it models, and the file for its result."""

import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path

from . import quirks
from .errors import LabError, reason
from .layout import layout_of
from .machine import Cache, Machine
from .qemu import Qemu

_LINE_BYTES = 64
_HIGH_MEMORY = 0xB0000000  # with this much memory or more, q35 puts less of it below 4 GiB
_LOW_MEMORY = 0x80000000

# Used if the machine file names no caches. They are small, because problems for the lab are small.
ASSUMED_CACHES = (
    Cache(1, "data", 32 << 10, 8, _LINE_BYTES, "core"),
    Cache(2, "unified", 256 << 10, 8, _LINE_BYTES, "core"),
    Cache(3, "unified", 2 << 20, 16, _LINE_BYTES, "node"),
)


@dataclass(frozen=True)
class Counting:
    """QEMU's arguments for the counter. QEMU inherits the descriptors, so their files need no visible path."""

    plugin: Path
    machine_fd: int
    result_fd: int

    @property
    def arguments(self) -> list[str]:
        paths = f"machine=/dev/fd/{self.machine_fd},result=/dev/fd/{self.result_fd}"
        # A comma inside a value of a QEMU option is written twice.
        return ["-plugin", str(self.plugin).replace(",", ",,") + f",{paths}"]


@contextmanager
def prepare(machine: Machine, qemu: Qemu, result: Path) -> Iterator[Counting]:
    plugin = _plugin(qemu)
    parallel = quirks.counts_in_parallel(qemu.version)
    with ExitStack() as stack:
        machine_fd = os.memfd_create("counted-machine")
        stack.callback(os.close, machine_fd)
        os.write(machine_fd, describe(machine, parallel).encode())
        result_fd = _open(result)
        stack.callback(os.close, result_fd)
        yield Counting(plugin, machine_fd, result_fd)


def _plugin(qemu: Qemu) -> Path:
    directory = Path(__file__).absolute().parent.parent / "counter"
    plugin = directory / f"counter-api{quirks.plugin_api(qemu.version)}.so"
    if plugin.is_file():
        return plugin
    hint = "build the target nodewise_counter, or run without counting: --on-no-count"
    raise LabError("cannot find the traffic counter", f"{plugin} does not exist", hint)


def _open(path: Path) -> int:
    try:
        return os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    except OSError as error:
        hint = f"check the directory: ls -ld {path.parent}"
        raise LabError(f"cannot write the counts to {path}", reason(error), hint) from error


def describe(machine: Machine, parallel: bool) -> str:
    """The text that lab/counter/machine.h documents."""
    threads = layout_of(machine).threads
    low_memory = _LOW_MEMORY if machine.memory_bytes >= _HIGH_MEMORY else _HIGH_MEMORY
    lines = [f"parallel {int(parallel)}", f"low_memory {low_memory}"]
    node_of = {cpu: node.id for node in machine.online_nodes for cpu in node.cpus}
    lines += [f"processor {cpu} {cpu // threads} {node_of[cpu]}" for cpu in sorted(node_of)]
    lines += [f"memory {node.id} {node.memory_bytes}" for node in machine.online_nodes if node.memory_bytes]
    lines += [
        f"cache {cache.level} {cache.kind} {cache.size_bytes} {cache.ways} {cache.shared_by}"
        for cache in _caches(machine)
    ]
    return "\n".join(lines) + "\n"


def _caches(machine: Machine) -> tuple[Cache, ...]:
    caches = machine.caches or ASSUMED_CACHES
    for cache in caches:
        if cache.line_bytes != _LINE_BYTES:
            answered = f"its caches of level {cache.level} have lines of {cache.line_bytes} bytes"
            hint = f"set line_bytes to {_LINE_BYTES} in the machine file, or run without counting: --on-no-count"
            raise LabError(f"cannot count the traffic of {machine.name}", answered, hint)
    return caches
