# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Returns a machine that waits for a job: restores a snapshot, or boots the machine and saves one."""

import contextlib
import fcntl
import hashlib
import os
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from . import cache
from .errors import LabError, Reporter
from .progress import Progress
from .qmp import QmpError
from .vm import BOOT_SECONDS, Blueprint, VirtualMachine

_STATE = "state"  # QEMU's migration stream
_CHUNK = 1 << 20
_PIPE_BYTES = 1 << 20
_PATIENCE_SECONDS = BOOT_SECONDS  # the holder of the lock boots
_SNAPSHOTS_KEPT = 16  # about 100 MiB each


def entry_of(blueprint: Blueprint) -> cache.Entry:
    digest = hashlib.sha256("\0".join(blueprint.identity).encode() + blueprint.initrd)
    return cache.entry("snapshot", digest.hexdigest()[:16])


def ready_machine(
    blueprint: Blueprint, name: str, work_directory: str, use_snapshot: bool, reporter: Reporter
) -> VirtualMachine:
    """Returns when the guest waits for its job."""
    if not use_snapshot:
        return _boot(blueprint, work_directory, reporter)
    entry = entry_of(blueprint)
    if machine := _restored(blueprint, entry, work_directory, reporter):
        return machine
    with contextlib.ExitStack() as stack:
        try:
            with Progress("waiting for another run that starts this machine", reporter) as shown:
                mine = stack.enter_context(cache.locked(f"snapshot-{entry.key}", _PATIENCE_SECONDS, shown.tick))
        except LabError as error:
            reporter.warning(f"no snapshot: {error}")
            return _boot(blueprint, work_directory, reporter)
        # Another run may have saved it in the meantime.
        if machine := _restored(blueprint, entry, work_directory, reporter):
            return machine
        machine = _boot(blueprint, work_directory, reporter)
        if mine:
            with _ended_on_failure(machine):
                _save_or_warn(machine, entry, name, reporter)
        return machine


def _boot(blueprint: Blueprint, work_directory: str, reporter: Reporter) -> VirtualMachine:
    started = time.monotonic()
    machine = VirtualMachine(blueprint, work_directory)
    with Progress("starting the virtual machine", reporter) as shown, _ended_on_failure(machine):
        machine.wait_until_ready(shown.tick)
    reporter.detail(f"booted in {time.monotonic() - started:.2f} s")
    return machine


@contextlib.contextmanager
def _ended_on_failure(machine: VirtualMachine) -> Iterator[None]:
    try:
        yield
    except BaseException:
        machine.end()
        raise


def _restored(
    blueprint: Blueprint, entry: cache.Entry, work_directory: str, reporter: Reporter
) -> VirtualMachine | None:
    """None: there is no snapshot that can be used."""
    if not entry.exists:
        return None
    started = time.monotonic()
    machine = VirtualMachine(blueprint, work_directory, incoming=True)
    try:
        with _ended_on_failure(machine):
            _load(machine, entry.path / _STATE)
    except (QmpError, OSError) as error:
        reporter.warning(f"cannot restore the snapshot {entry.key}; making a new one: {error}")
        entry.remove()
        return None
    entry.mark_used()
    reporter.detail(f"restored in {time.monotonic() - started:.2f} s from {entry.path}")
    return machine


def _load(machine: VirtualMachine, state: Path) -> None:
    with open(state, "rb") as file:
        reader, writer = _wide_pipe()
        with reader:
            machine.qmp.hand_over("state", reader.fileno())
        with writer:
            machine.qmp.execute("migrate-incoming", uri="fd:state")
            # QEMU may not read the description for people at the end of the state. QEMU reports
            # whether the state is complete.
            with contextlib.suppress(BrokenPipeError):
                while os.sendfile(writer.fileno(), file.fileno(), None, _CHUNK):
                    pass
    machine.qmp.wait_for_migration()
    machine.qmp.execute("cont")


def _save_or_warn(machine: VirtualMachine, entry: cache.Entry, name: str, reporter: Reporter) -> None:
    """Saves the machine, which continues afterwards even if it could not be saved."""
    started = time.monotonic()
    about = {"machine": name, "made": cache.now()}
    machine.qmp.execute("stop")
    try:
        cache.remove_unfinished()
        with cache.creating(entry, about) as directory:
            _save(machine, directory / _STATE)
        cache.keep_most_recent("snapshot", _SNAPSHOTS_KEPT)
        reporter.detail(f"snapshot made in {time.monotonic() - started:.2f} s")
    except OSError as error:
        reporter.warning(f"no snapshot: {cache.failure('cannot store it in the cache', error)}")
    except QmpError as error:
        reporter.warning(f"no snapshot, so the next start is slow, too: QEMU reports: {error}")
    machine.qmp.execute("cont")


def _save(machine: VirtualMachine, state: Path) -> None:
    """Writes the file in this process, not by a helper of QEMU, to get the file system's errors."""
    reader, writer = _wide_pipe()
    with reader, open(state, "wb") as file:
        with writer:
            machine.qmp.hand_over("state", writer.fileno())
        machine.qmp.execute("migrate-set-parameters", max_bandwidth=1 << 40)
        machine.qmp.execute("migrate", uri="fd:state")
        shutil.copyfileobj(reader, file, _CHUNK)
    machine.qmp.wait_for_migration()


def _wide_pipe() -> tuple[BinaryIO, BinaryIO]:
    reader, writer = os.pipe()
    with contextlib.suppress(OSError):  # over the user's limit of pipe memory the pipe is only slower
        fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, _PIPE_BYTES)
    return open(reader, "rb", buffering=0), open(writer, "wb", buffering=0)
