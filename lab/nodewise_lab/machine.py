# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The machine file (schema nodewise/machine/1) as a checked value."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import LabError, reason

SCHEMA = "nodewise/machine/1"
MIB = 1 << 20
DEFAULT_NODE_MEMORY = 256 * MIB
LEAST_TOTAL_MEMORY = 256 * MIB
MOST_CPUS = 64
MOST_NODES = 64


@dataclass(frozen=True)
class Node:
    id: int
    cpus: tuple[int, ...]
    memory_bytes: int  # in the virtual machine, not in the real one
    offline: bool


@dataclass(frozen=True)
class Cache:
    """A cache for data. Instruction caches are left out."""

    level: int
    kind: str
    size_bytes: int
    ways: int
    line_bytes: int
    shared_by: str  # "core" or "node"


@dataclass(frozen=True)
class Parameter:
    name: str
    source_node: int
    target_node: int
    value: float


@dataclass(frozen=True)
class Machine:
    name: str
    threads_per_core: int  # processors with neighbouring numbers that share a core
    cores_jump: bool  # a core has processors whose numbers are not neighbours, which the lab cannot show
    nodes: tuple[Node, ...]  # in ascending order
    distances: dict[tuple[int, int], int]  # by node numbers
    parameters: tuple[Parameter, ...]
    caches: tuple[Cache, ...] = ()  # one per level, from the first on; empty: the file names none

    @property
    def online_nodes(self) -> tuple[Node, ...]:
        return tuple(node for node in self.nodes if not node.offline)

    @property
    def cpu_count(self) -> int:
        return sum(len(node.cpus) for node in self.online_nodes)

    @property
    def memory_bytes(self) -> int:
        return sum(node.memory_bytes for node in self.online_nodes)


def parse_list(text: str) -> tuple[int, ...]:
    """A Linux list such as "0-3,8"."""
    numbers: list[int] = []
    for part in filter(None, text.strip().split(",")):
        first, _, last = part.partition("-")
        numbers.extend(range(int(first), int(last or first) + 1))
    return tuple(numbers)


def load(path: Path) -> Machine:
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise LabError(f"cannot read the machine file {path}", reason(error), f"check it with: ls -l {path}") from error
    except ValueError as error:
        hint = f"check it with: python3 -m json.tool {path}"
        raise LabError(f"cannot read the machine file {path}", f"it is not JSON: {error}", hint) from error
    try:
        machine = _from_document(document)
        _check(machine)
    except (KeyError, TypeError, ValueError) as error:
        what = f"{error} is missing" if isinstance(error, KeyError) else str(error)
        name = document.get("name", path) if isinstance(document, dict) else path
        hint = "see share/doc/nodewise/lab.md, 'Limits' and 'Machine files'"
        raise LabError(f"cannot use the machine {name}", what, hint) from error
    return machine


def _from_document(document: dict[str, Any]) -> Machine:
    if document.get("schema") != SCHEMA:
        raise ValueError(f"its schema is {document.get('schema')!r}, not {SCHEMA!r}")
    lab = document.get("lab", {})
    ids = [int(entry["id"]) for entry in document["nodes"]]
    memory = _lab_memory(document["nodes"], lab.get("memory_bytes_per_node"))
    offline = set(lab.get("offline_nodes", []))
    nodes = [
        Node(id, parse_list(entry.get("cpus", "")), size, id in offline)
        for id, entry, size in zip(ids, document["nodes"], memory, strict=True)
    ]
    # Linux assumes the same distances if the firmware has none.
    rows = document.get("distances") or [[10 if a == b else 20 for b in ids] for a in ids]
    if len(rows) != len(ids) or any(len(row) != len(ids) for row in rows):
        raise ValueError(f"distances must have {len(ids)} rows of {len(ids)} numbers")
    return Machine(
        name=str(document["name"]),
        threads_per_core=int(document.get("threads_per_core", 1)),
        cores_jump=any(not _neighbours(parse_list(core["cpus"])) for core in document.get("cores", [])),
        nodes=tuple(sorted(nodes, key=lambda node: node.id)),
        distances={(a, b): int(rows[i][j]) for i, a in enumerate(ids) for j, b in enumerate(ids)},
        parameters=tuple(
            Parameter(entry["name"], int(entry["from"]), int(entry["to"]), float(entry["value"]))
            for entry in document.get("parameters", [])
        ),
        caches=_caches(document),
    )


def _caches(document: dict[str, Any]) -> tuple[Cache, ...]:
    threads = int(document.get("threads_per_core", 1))
    by_level: dict[int, Cache] = {}
    for entry in document.get("caches", []):
        if entry["kind"] == "instruction":
            continue
        of_core = entry.get("shared_by") == "core" or ("cpus" in entry and len(parse_list(entry["cpus"])) <= threads)
        cache = Cache(
            int(entry["level"]), entry["kind"], int(entry["size_bytes"]), int(entry["ways"]),
            int(entry["line_bytes"]), "core" if of_core else "node",
        )  # fmt: skip
        by_level.setdefault(cache.level, cache)
    return tuple(by_level[level] for level in sorted(by_level))


def _neighbours(cpus: tuple[int, ...]) -> bool:
    return cpus == tuple(range(cpus[0], cpus[0] + len(cpus)))


def _lab_memory(nodes: list[dict[str, Any]], wanted: int | list[int] | None) -> list[int]:
    """The memory of each node in the virtual machine; 0 for a node without memory."""
    real = [int(node["memory_bytes"]) for node in nodes]
    if wanted is None:
        return [min(size, DEFAULT_NODE_MEMORY) // MIB * MIB for size in real]
    sizes = wanted if isinstance(wanted, list) else [wanted] * len(nodes)
    if len(sizes) != len(nodes):
        raise ValueError("lab.memory_bytes_per_node must be one number, or a list with one number per node")
    return [int(size) if has else 0 for has, size in zip(real, sizes, strict=True)]


def _check(machine: Machine) -> None:
    ids = [node.id for node in machine.nodes]
    cpus = [cpu for node in machine.online_nodes for cpu in node.cpus]
    if len(set(ids)) != len(ids) or len(set(cpus)) != len(cpus):
        raise ValueError("a node or processor appears twice")
    if not 1 <= len(cpus) <= MOST_CPUS:
        raise ValueError(f"it has {len(cpus)} processors; the lab supports 1 to {MOST_CPUS}")
    if min(ids) < 0 or max(ids) >= MOST_NODES:
        raise ValueError(f"node numbers must be 0 to {MOST_NODES - 1}")
    if machine.memory_bytes < LEAST_TOTAL_MEMORY:
        raise ValueError(
            f"its memory is {machine.memory_bytes >> 20} MiB in total; Linux needs {LEAST_TOTAL_MEMORY >> 20} MiB"
        )
    for node in machine.nodes:
        if node.memory_bytes % MIB:
            raise ValueError(f"the memory of node {node.id} is not a multiple of 1 MiB")
    for (a, b), distance in machine.distances.items():
        if (distance != 10) if a == b else not 10 < distance < 255:
            raise ValueError(
                f"distance {distance} from node {a} to node {b} is invalid: "
                "it must be 10 from a node to itself, else 11 to 254 (ACPI)"
            )
