# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The guest's first file system: init and the modules in a cpio archive (newc), built in memory."""

import os
from pathlib import Path

from .errors import LabError, reason

_DIRECTORY = 0o040755
_PROGRAM = 0o100755
_FILE = 0o100644
_X86_64 = 62  # EM_X86_64 of elf.h


def guest_init() -> Path:
    """The guest's init: a static program, built beside this package."""
    if chosen := os.environ.get("NODEWISE_GUEST_INIT"):
        return Path(chosen).absolute()
    return Path(__file__).absolute().parent.parent / "guest-init"


def build(modules: tuple[Path, ...]) -> bytes:
    init = guest_init()
    try:
        program = init.read_bytes()
    except OSError as error:
        raise LabError(f"cannot read the guest's init {init}", reason(error), "build it: make build") from error
    if program.startswith(b"\x7fELF") and int.from_bytes(program[18:20], "little") != _X86_64:
        problem = "it is not for x86-64, and the lab's guests run nothing else"
        raise LabError(f"cannot start the guest's init {init}", problem, "use the lab on an x86-64 system")
    files = [("init", _PROGRAM, program)]
    order = "".join(f"{module.name}\n" for module in modules)
    files += [("modules", _DIRECTORY, b""), ("modules/order", _FILE, order.encode())]
    files += [(f"modules/{module.name}", _FILE, module.read_bytes()) for module in modules]
    return b"".join(_member(i, *file) for i, file in enumerate(files, 1)) + _member(0, "TRAILER!!!", 0, b"")


def _member(inode: int, name: str, mode: int, content: bytes) -> bytes:
    # inode, mode, uid, gid, links, time, size, 4 x device, name size, checksum. Fields are zero where
    # possible, because the archive's hash is part of the snapshots' key.
    fields = (inode, mode, 0, 0, 1, 0, len(content), 0, 0, 0, 0, len(name) + 1, 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
    return _padded(header) + _padded(content)


def _padded(data: bytes) -> bytes:
    return data + b"\0" * (-len(data) % 4)
