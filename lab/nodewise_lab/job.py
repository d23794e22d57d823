# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The job for init: the caller's command, environment, identity and limits (keys: guest/job.h)."""

import os
import re
import resource
import shutil
import time
from dataclasses import dataclass, field

from .errors import LabError, reason

_CARRIED_LIMITS = ("AS", "CORE", "DATA", "FSIZE", "MEMLOCK", "NOFILE", "STACK")
_ENTROPY_BYTES = 64
_UNLIMITED = (1 << 64) - 1


@dataclass(frozen=True)
class Settings:
    """The guest's settings that the caller may choose."""

    numa_balancing: int = 0
    transparent_hugepage: str = "madvise"
    overlay: bool = False
    discard: bool = False  # files that the command writes stay in the guest
    tty: bool = False
    disk: bool = False  # the guest has a scratch disk
    capabilities: int = 0  # a mask of those that the command keeps; usually none
    count: str = ""  # "command": counts traffic from the command's start; "announced": from its announcement
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Membership:
    """Makes a guest the host of a cluster."""

    host_name: str
    number: int  # from 1 on: its addresses (guest/network.c)
    environment: dict[str, str]  # variables that the caller may override
    files: dict[str, str]  # by path: text to append, in the guest only


def working_directory() -> str:
    try:
        return os.getcwd()
    except OSError as error:
        hint = "change to a directory that exists"
        raise LabError("cannot find the working directory", reason(error), hint) from error


def describe(
    command: list[str], settings: Settings, machine_name: str, membership: Membership | None = None
) -> bytes:
    """The payload of the JOB frame. Call it just before sending, because it contains the time."""
    entries = [
        *(("arg", text) for text in command),
        *(("env", text) for text in _environment(settings, machine_name, membership)),
        *(("group", number) for number in os.getgroups()),
        *(("limit", text) for text in _limits()),
        ("cwd", working_directory()),
        ("umask", f"{_umask():o}"),
        ("uid", os.geteuid()),
        ("gid", os.getegid()),
        ("hostname", membership.host_name if membership else host_name(machine_name)),
        ("numa_balancing", settings.numa_balancing),
        ("transparent_hugepage", settings.transparent_hugepage),
        ("overlay", int(settings.overlay)),
        ("discard", int(settings.discard)),
        ("disk", int(settings.disk)),
        ("capabilities", f"{settings.capabilities:x}"),
        ("count", settings.count),
        ("tty", int(settings.tty)),
        ("entropy", os.urandom(_ENTROPY_BYTES).hex()),
    ]
    if membership:
        entries.append(("network", membership.number))
        entries += [("file", f"{path}:{text}") for path, text in membership.files.items()]
    if settings.tty:
        size = shutil.get_terminal_size()
        entries += [("rows", size.lines), ("columns", size.columns)]
    entries.append(("clock_ns", time.time_ns()))
    return b"".join(os.fsencode(f"{key}={value}") + b"\0" for key, value in entries)


def host_name(machine_name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", machine_name).strip("-")[:64] or "lab"


def _environment(settings: Settings, machine_name: str, membership: Membership | None) -> list[str]:
    """The caller's whole environment. Waiting threads must not spin: the host has few processors."""
    of_cluster = membership.environment if membership else {}
    variables = {"OMP_WAIT_POLICY": "passive", **of_cluster, **os.environ, **settings.environment, "NODEWISE_LAB": machine_name}
    if settings.count:
        variables["NODEWISE_LAB_COUNTS"] = "1"
    return [f"{name}={value}" for name, value in variables.items()]


def _limits() -> list[str]:
    lines = []
    for name in _CARRIED_LIMITS:
        number = getattr(resource, f"RLIMIT_{name}")
        soft, hard = (value if value != resource.RLIM_INFINITY else _UNLIMITED for value in resource.getrlimit(number))
        lines.append(f"{number}:{soft}:{hard}")
    return lines


def _umask() -> int:
    current = os.umask(0o077)
    os.umask(current)
    return current
