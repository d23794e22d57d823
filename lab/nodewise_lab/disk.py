# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The scratch disk of a guest: an empty file system, which is gone when the guest ends."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager

from .errors import LabError, reason

LEAST_BYTES, MOST_BYTES = 32 << 20, 1 << 40
# Each guest's disk has the same contents at first: what a snapshot has read of it stays true.
_UUID = "6e6f6465-7769-7365-2d73-637261746368"
_SBIN = "/usr/local/sbin:/usr/sbin:/sbin"


def device_arguments(fd: int, size_bytes: int) -> list[str]:
    """The size is a part of a snapshot's identity."""
    return [
        "-drive", f"if=none,id=scratch,format=raw,cache=unsafe,file=/dev/fd/{fd}",
        "-device", "virtio-blk-pci,drive=scratch,romfile=,serial=" + str(size_bytes),
    ]  # fmt: skip


@contextmanager
def formatted(size_bytes: int) -> Iterator[int]:
    """The descriptor of a new disk with ext4. It takes space only for what is written."""
    if not LEAST_BYTES <= size_bytes <= MOST_BYTES:
        asked = f"cannot make a disk of {size_bytes} bytes (--disk)"
        raise LabError(asked, f"it is not between {LEAST_BYTES} and {MOST_BYTES}", "choose another size")
    maker = shutil.which("mke2fs", path=f"{os.environ.get('PATH', os.defpath)}:{_SBIN}")
    if maker is None:
        raise LabError("cannot make a disk", "the command mke2fs is not installed", "install e2fsprogs: apt install e2fsprogs")
    with tempfile.TemporaryFile() as image:
        try:
            image.truncate(size_bytes)
        except OSError as error:
            raise LabError("cannot make a disk", reason(error), "choose a smaller disk, or another TMPDIR") from error
        options = f"lazy_itable_init=0,hash_seed={_UUID},root_owner={os.geteuid()}:{os.getegid()}"
        command = [maker, "-q", "-F", "-t", "ext4", "-U", _UUID, "-O", "^has_journal", "-E", options, f"/dev/fd/{image.fileno()}"]
        done = subprocess.run(command, capture_output=True, text=True, pass_fds=(image.fileno(),), stdin=subprocess.DEVNULL)
        if done.returncode != 0:
            answered = done.stderr.strip() or f"exit status {done.returncode}"
            raise LabError(f"cannot run {maker}", answered, "check the free space in TMPDIR")
        yield image.fileno()
