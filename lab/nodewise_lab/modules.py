# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The modules that the guest needs, in loading order.

Packages contain no modules.dep, so the dependencies come from the modules themselves.
"""

import contextlib
import gzip
import lzma
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import PurePath

# Init uses these before it can read files of the host.
WANTED = ("virtio_pci", "virtio_console", "9p", "9pnet_virtio", "overlay", "virtio_net")
# For a scratch disk, if the kernel has them; loaded only with one. ext4 asks for its checksum by another name, and newer
# kernels have that built in.
FOR_DISK = ("virtio_blk", "crc32c_generic", "ext4")

_SUFFIX = re.compile(r"\.ko(\.xz|\.zst|\.gz)?$")
_DEPENDS = re.compile(rb"\0depends=([^\0]*)\0")


def name_of(path: str) -> str | None:
    """The module's name as the kernel spells it, if the file is a module."""
    file = PurePath(path).name
    return _SUFFIX.sub("", file).replace("-", "_") if _SUFFIX.search(file) else None


def decompress(path: str, data: bytes) -> bytes:
    if path.endswith(".xz"):
        return lzma.decompress(data)
    if path.endswith(".gz"):
        return gzip.decompress(data)
    if path.endswith(".zst"):
        if shutil.which("zstd") is None:
            raise FileNotFoundError("the command zstd is not installed")
        return subprocess.run(["zstd", "-dc"], input=data, capture_output=True, check=True).stdout
    return data


def dependencies(module: bytes) -> list[str]:
    match = _DEPENDS.search(module)
    listed = match.group(1).decode("ascii") if match else ""
    return [name.replace("-", "_") for name in listed.split(",") if name]


def builtin_names(modules_builtin: str) -> set[str]:
    return {name for line in modules_builtin.splitlines() if (name := name_of(line))}


def load_order(available: Callable[[str], bytes | None], builtin: set[str]) -> dict[str, bytes]:
    """Name and content of every module that is needed, dependencies first, those for a disk last.

    Raises KeyError with the name of a module that is neither available nor built in.
    """
    ordered: dict[str, bytes] = {}

    def visit(name: str) -> None:
        if name in ordered or name in builtin:
            return
        content = available(name)
        if content is None:
            raise KeyError(name)
        for dependency in dependencies(content):
            visit(dependency)
        ordered[name] = content

    for name in WANTED:
        visit(name)
    for name in FOR_DISK:
        with contextlib.suppress(KeyError):
            visit(name)
    return ordered


def without_disk(ordered: list[str], read: Callable[[str], bytes]) -> list[str]:
    """Of the names in loading order those that a guest without a disk needs."""
    needed: set[str] = set()

    def visit(name: str) -> None:
        if name in ordered and name not in needed:
            needed.add(name)
            for dependency in dependencies(read(name)):
                visit(dependency)

    for name in WANTED:
        visit(name)
    return [name for name in ordered if name in needed]
