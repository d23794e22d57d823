# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The user's cache of kernels and snapshots, shared by parallel runs. Each entry is complete or absent."""

import contextlib
import datetime
import fcntl
import json
import os
import shutil
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .errors import LabError, reason

_UNFINISHED = ".unfinished-"
_KINDS = ("kernel", "snapshot")
_CHOOSE = "choose a directory that you may write to: export NODEWISE_CACHE=DIR"


def root() -> Path:
    if chosen := os.environ.get("NODEWISE_CACHE"):
        return Path(chosen).absolute()
    if xdg := os.environ.get("XDG_CACHE_HOME"):
        return Path(xdg) / "nodewise"
    try:
        return Path.home() / ".cache" / "nodewise"
    except RuntimeError as error:  # HOME is unset, and the user has no entry in /etc/passwd
        raise LabError("cannot find a directory for the cache", str(error), _CHOOSE) from error


def failure(asked: str, error: OSError) -> LabError:
    """An error of the cache's file system."""
    return LabError(asked, reason(error), f"free disk space, or {_CHOOSE} (now {root()})")


@contextlib.contextmanager
def _explained(asked: str) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise failure(f"{asked} {root()}", error) from error


@dataclass(frozen=True)
class Entry:
    """One kernel or snapshot: a directory with about.json and its files."""

    kind: str
    key: str
    path: Path

    @property
    def exists(self) -> bool:
        return os.path.isfile(self.path / "about.json")  # False if the directory is not readable

    def about(self) -> dict[str, Any]:
        try:
            return json.loads((self.path / "about.json").read_text(encoding="utf-8"))
        except (OSError, ValueError):
            return {}

    def size_bytes(self) -> int:
        return sum(file.stat().st_blocks * 512 for file in self.path.rglob("*") if file.is_file())

    def mark_used(self) -> None:
        with contextlib.suppress(OSError):  # only the owner may write to a shared cache
            os.utime(self.path / "about.json")

    def last_used(self) -> float:
        try:
            return (self.path / "about.json").stat().st_mtime
        except OSError:
            return 0

    def remove(self) -> None:
        # Renamed first, so that other runs see the complete entry or none.
        trash = self.path.parent / f"{_UNFINISHED}removed-{os.getpid()}-{self.key}"
        try:
            self.path.rename(trash)
            shutil.rmtree(trash)
        except FileNotFoundError:
            pass  # another run has removed it
        except OSError as error:
            raise failure(f"cannot remove {self.path}", error) from error


def entry(kind: str, key: str) -> Entry:
    return Entry(kind, key, root() / f"{kind}s" / key)


def entries() -> list[Entry]:
    found = []
    for kind in _KINDS:
        directory = root() / f"{kind}s"
        with _explained("cannot read the cache"):
            paths = sorted(directory.iterdir()) if directory.is_dir() else []
        found += [Entry(kind, path.name, path) for path in paths if not path.name.startswith(".")]
    return [candidate for candidate in found if candidate.exists]


def require_writable() -> None:
    """Checks that the cache is writable; call it before work whose result goes there."""
    with _explained("cannot write to the cache"):
        (root() / "locks").mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=root() / "locks"):
            pass


@contextlib.contextmanager
def creating(target: Entry, about: dict[str, Any]) -> Iterator[Path]:
    """Yields a directory to fill, which becomes the entry at the end. After a failure it is removed."""
    target.path.parent.mkdir(parents=True, exist_ok=True)
    unfinished = Path(tempfile.mkdtemp(prefix=_UNFINISHED, dir=target.path.parent))
    try:
        yield unfinished
        (unfinished / "about.json").write_text(json.dumps(about, indent=1) + "\n", encoding="utf-8")
        unfinished.chmod(0o755)
        if target.path.exists():
            target.remove()
        unfinished.rename(target.path)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


@contextlib.contextmanager
def locked(name: str, patience_seconds: float, tick: Callable[[], None] = lambda: None) -> Iterator[bool]:
    """Only one run at a time makes an entry. Yields False if another run still holds the lock after that time."""
    with _explained("cannot write to the cache"):
        directory = root() / "locks"
        directory.mkdir(parents=True, exist_ok=True)
        file = open(directory / name, "w", encoding="ascii")
    with file:
        deadline = time.monotonic() + patience_seconds
        while not (mine := _try_lock(file.fileno())) and time.monotonic() < deadline:
            tick()
            time.sleep(0.05)
        yield mine  # closing the file unlocks it, also if the process dies


def _try_lock(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def keep_most_recent(kind: str, count: int) -> None:
    """Removes the entries that were least recently used."""
    candidates = [entry for entry in entries() if entry.kind == kind]
    for old in sorted(candidates, key=Entry.last_used, reverse=True)[count:]:
        old.remove()


def now() -> str:
    return datetime.datetime.now(datetime.UTC).isoformat(timespec="seconds")


def remove_unfinished(older_than_seconds: float = 3600) -> None:
    """Removes what runs left behind if they were killed while writing."""
    for kind in _KINDS:
        for path in (root() / f"{kind}s").glob(f"{_UNFINISHED}*"):
            with contextlib.suppress(OSError):
                if time.time() - path.stat().st_mtime > older_than_seconds:
                    shutil.rmtree(path)
