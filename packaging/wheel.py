# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Packs an installed tree into a wheel.

    wheel.py TREE METADATA GLIBC ARCHITECTURE FOLDER

The commands are scripts of the wheel, so no Python starts with them, and everything else is data: pip unpacks it into
bin, lib, libexec and share of one folder, where the parts find each other. The same tree makes the same bytes if
SOURCE_DATE_EPOCH is the same.
"""

import base64
import hashlib
import os
import re
import sys
import time
import zipfile
from pathlib import Path

_OLDEST_OF_ZIP = 315532800  # 1980


def _member(name: str, executable: bool) -> zipfile.ZipInfo:
    when = max(int(os.environ.get("SOURCE_DATE_EPOCH", "0")), _OLDEST_OF_ZIP)
    member = zipfile.ZipInfo(name, time.gmtime(when)[:6])
    member.external_attr = (0o100755 if executable else 0o100644) << 16
    member.create_system = 3  # Unix, whose modes these are
    member.compress_type = zipfile.ZIP_DEFLATED
    return member


def _place(file: Path, data: str) -> str:
    """Where the wheel keeps a file of the tree."""
    return f"{data}/scripts/{file.name}" if file.parts[0] == "bin" else f"{data}/data/{file.as_posix()}"


def _record_line(name: str, content: bytes) -> str:
    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b"=").decode()
    return f"{name},sha256={digest},{len(content)}\n"


def pack(tree: Path, metadata: bytes, tag: str, folder: Path) -> Path:
    """Writes the wheel and returns its path."""
    version = re.search(rb"^Version: (\S+)$", metadata, re.MULTILINE)
    if version is None:
        raise SystemExit("wheel.py: the description has no line 'Version: ...'")
    stem = f"nodewise-{version.group(1).decode()}"
    files = sorted(path.relative_to(tree) for path in tree.rglob("*") if not path.is_dir())
    links = [str(file) for file in files if (tree / file).is_symlink()]
    if links:
        raise SystemExit(f"wheel.py: a wheel cannot contain links, and the tree has {', '.join(links)}")
    members = {
        _place(file, f"{stem}.data"): ((tree / file).read_bytes(), os.access(tree / file, os.X_OK)) for file in files
    }
    info = f"{stem}.dist-info"
    description = f"Wheel-Version: 1.0\nGenerator: nodewise\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n"
    members[f"{info}/METADATA"] = (metadata, False)
    members[f"{info}/WHEEL"] = (description.encode(), False)
    record = "".join(_record_line(name, content) for name, (content, _) in members.items())
    members[f"{info}/RECORD"] = (f"{record}{info}/RECORD,,\n".encode(), False)

    folder.mkdir(parents=True, exist_ok=True)
    wheel = folder / f"{stem}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", compresslevel=9) as archive:
        for name, (content, executable) in members.items():
            archive.writestr(_member(name, executable), content, compresslevel=9)
    return wheel


def main() -> None:
    tree, metadata, glibc, architecture, folder = sys.argv[1:]
    tag = f"manylinux_{glibc.replace('.', '_')}_{architecture}"
    wheel = pack(Path(tree), Path(metadata).read_bytes(), tag, Path(folder))
    print(f"{wheel} ({wheel.stat().st_size / 1e6:.1f} MB)")


if __name__ == "__main__":
    main()
