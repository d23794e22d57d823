# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Fails if a file of an installed tree needs a newer C library than promised, or a library that is not there.

    needs.py TREE GLIBC
"""

import re
import subprocess
import sys
from pathlib import Path

# Each system with this C library has them: they are parts of it, or its dynamic linker.
_OF_GLIBC = {"libc.so.6", "libm.so.6", "libpthread.so.0", "libdl.so.2", "librt.so.1", "ld-linux-x86-64.so.2", "ld-linux-aarch64.so.1"}
_VERSION = re.compile(r"\(GLIBC_([0-9.]+)\)\s+(\S+)")
_NEEDED = re.compile(r"^\s+NEEDED\s+(\S+)", re.MULTILINE)


def _objdump(option: str, file: Path) -> str:
    return subprocess.run(["objdump", option, file], capture_output=True, text=True, check=False).stdout


def _number(version: str) -> tuple[int, ...]:
    return tuple(map(int, version.split(".")))


def _is_elf(file: Path) -> bool:
    with file.open("rb") as opened:
        return opened.read(4) == b"\x7fELF"


def _problems(file: Path, glibc: str, bundled: set[str]) -> list[str]:
    symbols = _VERSION.findall(_objdump("-T", file))
    too_new = [f"needs {name} of glibc {version}" for version, name in symbols if _number(version) > _number(glibc)]
    missing = [f"needs {name}" for name in _NEEDED.findall(_objdump("-p", file)) if name not in _OF_GLIBC | bundled]
    return too_new + missing


def main() -> int:
    tree, glibc = Path(sys.argv[1]), sys.argv[2]
    files = [path for path in sorted(tree.rglob("*")) if path.is_file() and _is_elf(path)]
    if not files:
        print(f"needs.py: no programs in {tree}", file=sys.stderr)
        return 1
    bundled = {path.name for path in (tree / "lib/nodewise").glob("lib*.so*")}
    found = [f"{path.relative_to(tree)}: {text}" for path in files for text in _problems(path, glibc, bundled)]
    for line in found:
        print(f"needs.py: {line}", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
