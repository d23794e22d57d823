# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Reads the records of agent/protocol.h, independently of the launcher's reader."""

import dataclasses
import os
import struct

HEADER = struct.Struct("=IHHIIii")
HEAD = struct.Struct("=8Q")
MAGIC, VERSION = 0x4744574E, 6
START, OBJECT, END, MADE, THREAD, ALLOCATED, STACK, WROTE = 1, 2, 3, 4, 5, 6, 7, 8
HEAP, MAP, STATIC, GROUP, REGION = 0, 1, 2, 3, 4
PINNED, OWN_AFFINITY, MAIN = 1, 2, 4
PLACED, MAP_LIMIT, LIVE_AT_END, COARSER, PARTLY_GONE, RUNS_CUT, NOT_ASKED = 1, 2, 8, 32, 256, 4096, 8192
NO_SEQUENCE = 2**64 - 1


@dataclasses.dataclass
class Thread:
    pid: int
    tid: int
    ordinal: int
    flags: int
    name: str
    cpus: str
    start: str
    nested: tuple | None  # number among the threads of all inner teams, sizes of the teams
    busy_ms: int  # these two: -1 of a thread that has ended
    last_cpu: int


@dataclasses.dataclass
class Object:
    pid: int
    bytes: int
    pages: int
    resident: int
    on_owner: int
    flags: int
    kind: int
    rule: int
    name: str
    shares: dict
    sequence: int
    start: int
    extents: int
    maker: int
    stack: int
    allocated_ns: int
    freed_ns: int
    caller_offset: int
    blocks: int
    runs: list  # of (first page, pages, node)


@dataclasses.dataclass
class Allocation:
    pid: int
    sequence: int
    start: int
    bytes: int
    time_ns: int
    kind: int
    stack: int
    module: str
    offset: int
    name: str
    tid: int


@dataclasses.dataclass
class Stack:
    pid: int
    tid: int
    number: int
    caller: int
    ip: int
    sp: int
    end: int
    bytes: bytes


@dataclasses.dataclass
class Writes:
    pid: int
    sequence: int
    start: int
    first: int
    last: int
    bytes: int
    calls: int
    first_ns: int
    last_ns: int
    module: str
    offset: int
    tid: int
    stack: int


@dataclasses.dataclass
class Start:
    pid: int
    foreign_malloc: int
    program: str
    allocator: str
    parent: int
    time_ns: int


@dataclasses.dataclass
class End:
    pid: int
    objects: int
    placed: int
    own_threads: int
    pinned: int
    own_affinity: int
    stripped: int
    pin_errno: int
    left_out: dict
    rules: list  # of (objects, placed)


def text(raw):
    return raw.split(b"\0")[0].decode(errors="replace")


def checksum(data):
    total = 2166136261
    for byte in data:
        total = (total ^ byte) * 16777619 & 0xFFFFFFFF
    return total


def read_thread(pid, body):
    tid, ordinal, flags, name, cpus, start, inner, *sizes, busy_ms, last_cpu, _ = struct.unpack(
        "=iiI16s64s64s5IqiI", body)
    teams = [size for size in sizes if size != 0]
    return Thread(pid, tid, ordinal, flags, text(name), text(cpus), text(start), (inner, teams) if teams else None,
                  busy_ms, last_cpu)


def read_object(pid, body):
    fixed = struct.Struct("=9Q64sIIII128sIIQi64siIIQQ")
    (sequence, start, size, _, pages, resident, on_owner, _, caller, _, _, flags, extents, _, _, shares, kind, blocks, rule,
     name, maker, stack, runs, allocated_ns, freed_ns) = fixed.unpack_from(body)
    on = {}
    for i in range(shares):
        count, node, _ = struct.unpack_from("=QiI", body, fixed.size + 16 * i)
        on[node] = count
    rest = body[fixed.size + 16 * shares:]
    assert len(rest) == 16 * runs
    return Object(pid, size, pages, resident, on_owner, flags, kind, rule, text(name), on, sequence, start, extents, maker,
                  stack, allocated_ns, freed_ns, caller, blocks, list(struct.iter_unpack("=QIi", rest)))


def read_allocation(pid, body):
    sequence, start, size, time_ns, offset, kind, stack, module, name, tid, _ = struct.unpack("=5QII64s64siI", body)
    return Allocation(pid, sequence, start, size, time_ns, kind, stack, text(module), offset, text(name), tid)


def read_stack(pid, tid, body):
    fixed = struct.Struct("=6Q33Q4I")
    _, end, caller, ip, sp, _, *_, number, _, size, _ = fixed.unpack_from(body)
    assert len(body) == fixed.size + size
    return Stack(pid, tid, number, caller, ip, sp, end, body[fixed.size:])


def read_writes(pid, body):
    *numbers, offset, module, tid, stack = struct.unpack("=8QQ64siI", body)
    return Writes(pid, *numbers, text(module), offset, tid, stack)


def read_start(pid, body):
    _, time_ns, foreign_malloc, parent, program, allocator = struct.unpack("=QQIi64s64s", body)
    return Start(pid, foreign_malloc, text(program), text(allocator), parent, time_ns)


def read_end(pid, body):
    fixed = struct.Struct("=15Q4I")
    (_, objects, placed, _, _, left_out, lost, own_threads, pinned, own_affinity, stripped, _, allocations, stacks, writes, _,
     pin_errno, rules, no_memory) = fixed.unpack_from(body)
    assert len(body) == fixed.size + 16 * rules
    left = {"objects": left_out, "lost": lost, "allocations": allocations, "stacks": stacks, "writes": writes,
            "no_memory": no_memory}
    return End(pid, objects, placed, own_threads, pinned, own_affinity, stripped, pin_errno, left,
               list(struct.iter_unpack("=QQ", body[fixed.size:])))


@dataclasses.dataclass
class Report:
    threads: list
    objects: list
    ends: list
    starts: list
    allocations: list = dataclasses.field(default_factory=list)
    stacks: list = dataclasses.field(default_factory=list)
    writes: list = dataclasses.field(default_factory=list)
    lost: int = 0

    def static(self, name):
        """The one static array of this name."""
        (found,) = [each for each in self.objects if each.kind == STATIC and each.name == name]
        return found

    def of(self, pid):
        return Report(*([each for each in records if each.pid == pid]
                        for records in (self.threads, self.objects, self.ends, self.starts, self.allocations, self.stacks,
                                      self.writes)))


def reserve(path, size=16 << 20):
    """An empty report file as the launcher makes it: zeros that have their blocks."""
    with open(path, "wb") as file:
        os.posix_fallocate(file.fileno(), 0, size)


def used(path):
    """How many bytes the head and the records have."""
    with open(path, "rb") as file:
        return HEAD.unpack(file.read(HEAD.size))[0]


def read(data):
    report = Report([], [], [], [])
    end, report.lost, *_ = HEAD.unpack_from(data)
    at = HEAD.size
    while at < end:
        magic, version, kind, size, sum_, pid, tid = HEADER.unpack_from(data, at)
        if magic == 0:  # a process was killed while it wrote this record
            at += 8
            continue
        assert (magic, version) == (MAGIC, VERSION), (hex(magic), version)
        assert sum_ == checksum(data[at + 16:at + size]), "a checksum is wrong"
        body = data[at + HEADER.size:at + size]
        if kind == START:
            report.starts.append(read_start(pid, body))
        elif kind == THREAD:
            report.threads.append(read_thread(pid, body))
        elif kind == OBJECT:
            report.objects.append(read_object(pid, body))
        elif kind == END:
            report.ends.append(read_end(pid, body))
        elif kind == ALLOCATED:
            report.allocations.append(read_allocation(pid, body))
        elif kind == STACK:
            report.stacks.append(read_stack(pid, tid, body))
        elif kind == WROTE:
            report.writes.append(read_writes(pid, body))
        at += size
    return report
