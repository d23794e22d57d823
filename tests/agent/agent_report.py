# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Reads the records of agent/protocol.h, independently of the launcher's reader."""

import dataclasses
import struct

HEADER = struct.Struct("=IHHIIii")
MAGIC, VERSION = 0x4744574E, 2
START, OBJECT, END, MADE, THREAD = 1, 2, 3, 4, 5
HEAP, MAP, STATIC, GROUP = 0, 1, 2, 3
PINNED, OWN_AFFINITY, MAIN = 1, 2, 4
PLACED, LIVE_AT_END, PARTLY_GONE = 1, 8, 256


@dataclasses.dataclass
class Thread:
    pid: int
    tid: int
    ordinal: int
    flags: int
    name: str
    cpus: str
    start: str


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


@dataclasses.dataclass
class Start:
    pid: int
    foreign_malloc: int
    program: str
    allocator: str


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


def text(raw):
    return raw.split(b"\0")[0].decode(errors="replace")


def checksum(data):
    total = 2166136261
    for byte in data:
        total = (total ^ byte) * 16777619 & 0xFFFFFFFF
    return total


def read_thread(pid, body):
    tid, ordinal, flags, name, cpus, start = struct.unpack("=iiI16s64s64s", body)
    return Thread(pid, tid, ordinal, flags, text(name), text(cpus), text(start))


def read_object(pid, body):
    fixed = struct.Struct("=8Q64sIIII128sIIQiI64s")
    (_, size, _, pages, resident, on_owner, _, _, _, _, flags, _, _, _, shares, kind, _, rule, _,
     name) = fixed.unpack_from(body)
    on = {}
    for i in range(shares):
        count, node, _ = struct.unpack_from("=QiI", body, fixed.size + 16 * i)
        on[node] = count
    return Object(pid, size, pages, resident, on_owner, flags, kind, rule, text(name), on)


def read_start(pid, body):
    _, foreign_malloc, _, program, allocator = struct.unpack("=QII64s64s", body)
    return Start(pid, foreign_malloc, text(program), text(allocator))


def read_end(pid, body):
    (objects, placed, _, _, _, _, own_threads, pinned, own_affinity, stripped, _, _,
     pin_errno) = struct.unpack("=11QII", body)
    return End(pid, objects, placed, own_threads, pinned, own_affinity, stripped, pin_errno)


@dataclasses.dataclass
class Report:
    threads: list
    objects: list
    ends: list
    starts: list

    def static(self, name):
        """The one static array of this name."""
        (found,) = [each for each in self.objects if each.kind == STATIC and each.name == name]
        return found

    def of(self, pid):
        return Report(*([each for each in records if each.pid == pid]
                        for records in (self.threads, self.objects, self.ends, self.starts)))


def read(data):
    report = Report([], [], [], [])
    at = 0
    while at < len(data):
        magic, version, kind, size, sum_, pid, _ = HEADER.unpack_from(data, at)
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
        at += size
    return report
