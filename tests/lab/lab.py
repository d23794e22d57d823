# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the lab's tests share: running a command on a machine.

The tests run against a build tree (NODEWISE_BUILD, which ctest sets). Nothing is skipped: without
QEMU or a kernel they fail and say what is missing.
"""

import atexit
import functools
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BUILD = Path(os.environ.get("NODEWISE_BUILD", ROOT / "build/release"))
RUNNER = BUILD / "libexec/nodewise/lab/nodewise_lab"
MACHINES = ROOT / "lab/machines"
# The system's own: a version manager's may lie where other users cannot go.
PYTHON = "/usr/bin/python3"

TWO_NODES = MACHINES / "nehalem-2x4.json"
FOUR_NODES = MACHINES / "opteron-4x2.json"
MEMORY_ONLY = MACHINES / "cxl.json"

sys.path.insert(0, str(ROOT / "lab"))


def runner(*arguments: object) -> list[str]:
    return [PYTHON, "-B", str(RUNNER), *map(str, arguments)]


def on(machine: Path, *command: str, options: tuple[str, ...] = ()) -> list[str]:
    """The command line that runs `command` on `machine`."""
    return runner("run", "--machine", machine, *options, "--", *command)


def run(
    *command: str,
    machine: Path = FOUR_NODES,
    options: tuple[str, ...] = (),
    **popen: object,
) -> subprocess.CompletedProcess[bytes]:
    """Runs a command in the guest; stdin is empty unless given."""
    popen.setdefault("stdin", subprocess.DEVNULL) if "input" not in popen else None
    # Longer than the runner has patience: what it says is of more use.
    popen.setdefault("timeout", 900)
    return subprocess.run(on(machine, *command, options=options), capture_output=True, **popen)


def shell(script: str, **rest: object) -> subprocess.CompletedProcess[bytes]:
    return run("sh", "-c", script, **rest)


# Of each core, and small: a thread that is bound shares them with nobody, and small arrays are
# large for them. What a cache of a whole node keeps depends on who ran when: where one of its
# threads works while the others wait, as emulated processors do, its part stays in the cache until
# its next sweep.
OWN_CACHES = [
    {"line_bytes": 64, "shared_by": "core", **cache}
    for cache in (
        {"level": 1, "kind": "data", "size_bytes": 32 << 10, "ways": 8},
        {"level": 2, "kind": "unified", "size_bytes": 256 << 10, "ways": 16},
    )
]


@functools.cache
def with_own_caches(name: str) -> str:
    """A machine of the lab with these caches instead of its own: the file, for `--on lab:`."""
    described = subprocess.run(
        [BUILD / "bin/nodewise", "lab", "describe", name, "--json"],
        check=True,
        capture_output=True,
        text=True,
    )
    file = _files() / f"{name}.json"
    file.write_text(json.dumps({**json.loads(described.stdout), "caches": OWN_CACHES}))
    return str(file)


@functools.cache
def _files() -> Path:
    """A folder for as long as the tests run, which every guest can read."""
    folder = tempfile.TemporaryDirectory(prefix="nodewise-lab-machines-")
    atexit.register(folder.cleanup)
    Path(folder.name).chmod(0o755)
    return Path(folder.name)


def cache_directory() -> Path:
    """The cache that the tests share, as the runner finds it."""
    from nodewise_lab import cache

    return cache.root()


def private_cache(directory: Path) -> Path:
    """A cache with the kernel in it, so that the test needs no download, and nothing else."""
    subprocess.run(runner("kernel", "fetch"), check=True, stdout=subprocess.DEVNULL)
    copy = directory / "cache"
    shutil.copytree(cache_directory() / "kernels", copy / "kernels")
    return copy


class LabTest(unittest.TestCase):
    """With a working directory of its own under /tmp, writable by everyone."""

    maxDiff = None

    def setUp(self) -> None:
        self.directory = Path(
            self.enterContext(tempfile.TemporaryDirectory(prefix="nodewise-lab-test-"))
        )
        self.directory.chmod(0o777)

    def assert_output(self, result: subprocess.CompletedProcess[bytes], expected: str) -> None:
        self.assertEqual(result.stdout.decode(), expected, result.stderr.decode())
        self.assertEqual(result.returncode, 0, result.stderr.decode())
