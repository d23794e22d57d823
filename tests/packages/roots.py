# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Bare systems to install packages in: roots made by debootstrap, each with a layer that is lost at the end."""

import os
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[2]
_KEPT = PROJECT / "build/dist/roots"
_MIRROR = os.environ.get("NODEWISE_DEBIAN_MIRROR", "http://deb.debian.org/debian")

# $1: the root, $2: a folder on the same file system for the layer, $3: the packages, $4: the command.
_INSIDE = """
set -e
mkdir -p "$2/upper" "$2/work" "$2/root"
mount -t overlay overlay -o "lowerdir=$1,upperdir=$2/upper,workdir=$2/work" "$2/root"
mkdir -p "$2/root/dist"
mount --bind "$3" "$2/root/dist"
for tree in proc sys dev; do mount --rbind "/$tree" "$2/root/$tree"; done
exec chroot "$2/root" env -i HOME=/root PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin \
  LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive sh -c "$4"
"""


class Root:
    """A Debian release with its smallest set of packages, and others if asked for. Commands run one after the other in
    it, and `dist` is the project's folder of packages."""

    def __init__(self, release: str, dist: Path, include: str = "python3-venv"):
        self._dist = dist
        self._lower = _KEPT / (release if include else f"{release}-smallest")
        if not (self._lower / "complete").exists():
            self._make(release, [f"--include={include}"] if include else [])
        self._layer = Path(tempfile.mkdtemp(prefix=f"layer-{release}-", dir=_KEPT))

    def _make(self, release: str, options: list[str]) -> None:
        shutil.rmtree(self._lower, ignore_errors=True)
        self._lower.mkdir(parents=True)
        # What it mounts is gone when it ends, even if it is interrupted: the next try removes the folder.
        command = ["unshare", "-m", "debootstrap", "--variant=minbase", *options, release, str(self._lower), _MIRROR]
        subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        (self._lower / "complete").touch()

    def put(self, source: Path, target: str) -> None:
        """Copies a file or a folder into it."""
        inside = Path(target.lstrip("/"))
        for folder in reversed(inside.parents):  # of the layer, with the mode of the one below
            made = self._layer / "upper" / folder
            made.mkdir(parents=True, exist_ok=True)
            if (self._lower / folder).is_dir():
                shutil.copymode(self._lower / folder, made)
        into = self._layer / "upper" / inside
        if source.is_dir():
            shutil.copytree(source, into)
        else:
            shutil.copy(source, into)

    def run(self, command: str, variables: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
        """Runs a shell command as root in it; stderr is part of stdout."""
        exports = "".join(f"export {name}={shlex.quote(value)}; " for name, value in (variables or {}).items())
        words = ["unshare", "-m", "sh", "-c", _INSIDE, "root", str(self._lower), str(self._layer), str(self._dist)]
        return subprocess.run(
            [*words, exports + command],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            check=False,
        )

    def close(self) -> None:
        shutil.rmtree(self._layer)
