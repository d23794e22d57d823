# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Finds, downloads and reads kernel packages of Debian and Ubuntu, without root."""

import re
import shutil
import subprocess
import tarfile
import tempfile
from collections.abc import Iterator
from pathlib import Path

from .errors import LabError

_UPDATE = "update the package lists: sudo apt-get update"
# A meta package whose dependencies name the current kernel. Debian's cloud kernel has no 9p.
_META_PACKAGES = {"debian": "linux-image-amd64", "ubuntu": "linux-image-generic"}
_IMAGE_PACKAGE = re.compile(r"linux-image-(?:unsigned-)?\d[\w.+~-]*-(?:amd64|generic)")


def _apt(*command: str, directory: Path | None = None) -> str:
    if shutil.which(command[0]) is None:
        asked = f"cannot find {command[0]}, which gets a kernel from the distribution"
        hint = "choose a kernel: export NODEWISE_KERNEL_DEB=FILE.deb or NODEWISE_KERNEL=/boot/vmlinuz-VERSION"
        raise LabError(asked, "it is not in PATH", hint)
    result = subprocess.run(command, capture_output=True, text=True, cwd=directory, stdin=subprocess.DEVNULL)
    if result.returncode != 0:
        answer = (result.stderr.strip() or result.stdout.strip() or f"exit status {result.returncode}").splitlines()[-1]
        raise LabError(f"cannot run '{' '.join(command)}'", answer, _UPDATE)
    return result.stdout


def _distribution() -> str:
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        text = ""
    names = re.findall(r"^ID(?:_LIKE)?=\"?([^\"\n]*)", text, re.MULTILINE)
    words = " ".join(names).split()
    return next((word for word in words if word in _META_PACKAGES), "debian")


def current_packages() -> list[str]:
    """The packages with the distribution's current kernel: image, then modules."""
    meta = _META_PACKAGES[_distribution()]
    listed = _apt("apt-cache", "depends", meta)
    images = [word for word in listed.split() if _IMAGE_PACKAGE.fullmatch(word)]
    if not images:
        raise LabError("cannot find a kernel package", f"'apt-cache depends {meta}' names none", _UPDATE)
    image = images[0]
    if _distribution() == "debian":
        return [image]
    # Ubuntu splits its kernel; the module package with 9p has changed between releases.
    release = image.removeprefix("linux-image-").removeprefix("unsigned-")
    known = _apt("apt-cache", "pkgnames", "linux-modules-").split()
    return [image] + [name for name in (f"linux-modules-{release}", f"linux-modules-extra-{release}") if name in known]


def read(packages: list[Path], wanted: re.Pattern[str]) -> dict[str, bytes]:
    """Every regular file of the packages whose path (without a leading ./ or usr/) matches."""
    return {path: content for package in packages for path, content in _files(package, wanted)}


def read_downloaded(packages: list[str], wanted: re.Pattern[str]) -> dict[str, bytes]:
    """The same for packages that are downloaded, into a directory that is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="nodewise-kernel-") as name:
        directory = Path(name)
        directory.chmod(0o755)  # apt, started by root, downloads as another user if it can
        _apt("apt-get", "download", "--quiet", *packages, directory=directory)
        # In the order of `packages`; a file's name has the package's name, version and architecture.
        return read([next(directory.glob(f"{package}_*.deb")) for package in packages], wanted)


def _files(package: Path, wanted: re.Pattern[str]) -> Iterator[tuple[str, bytes]]:
    with subprocess.Popen(["dpkg-deb", "--fsys-tarfile", package], stdout=subprocess.PIPE) as unpacker:
        assert unpacker.stdout is not None
        try:
            with tarfile.open(fileobj=unpacker.stdout, mode="r|") as archive:
                for member in archive:
                    path = member.name.removeprefix("./").removeprefix("usr/")
                    if member.isfile() and wanted.fullmatch(path):
                        content = archive.extractfile(member)
                        yield path, content.read() if content else b""
        except tarfile.TarError as error:
            hint = "download it again: apt-get download PACKAGE"
            raise LabError(f"cannot read the package {package}", str(error), hint) from error
