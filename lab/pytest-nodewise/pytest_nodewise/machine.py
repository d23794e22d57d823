# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A machine of the lab, and programs that run on it by the command `nodewise`."""

import functools
import json
import os
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from .errors import LabError, LabUnavailable
from .traffic import Traffic

_LAB_FAILED = 125  # docs/lab.md


class Machine:
    """`name` is NODESxCORES, a name that `nodewise lab list` prints, or the path of a machine file."""

    def __init__(self, name: str, nodewise: str = "nodewise"):
        self.name = name.removeprefix("lab:")
        self._nodewise = nodewise

    def run(
        self,
        command: Sequence[str | os.PathLike[str]],
        *,
        options: Sequence[str] = (),
        timeout: int | None = None,
        env: Mapping[str, str] | None = None,
        cwd: str | os.PathLike[str] | None = None,
    ) -> Traffic:
        """Runs a command on this machine and counts its memory traffic.

        `options` are those of `nodewise run`, such as ["--bind", "close"]; `timeout` is the lab's limit in seconds;
        `env` is added to the environment. Raises LabUnavailable if the lab cannot run, and LabError if the command
        fails.
        """
        __tracebackhide__ = True  # pytest shows the test's line
        words = [] if timeout is None else ["--on-timeout", str(timeout)]
        with tempfile.TemporaryDirectory(prefix="pytest-nodewise-") as folder:
            counts = Path(folder) / "traffic.json"
            done = _finished(
                [self._nodewise, "run", "--on", f"lab:{self.name}", "--quiet", "--on-counts", counts, *words, *options,
                 "--", *command],
                env={**os.environ, **(env or {})}, cwd=cwd,
            )  # fmt: skip
            if done.returncode == _LAB_FAILED and not counts.exists():
                self.require()
            if done.returncode != 0 or not counts.exists():
                asked = f"{' '.join(map(str, command))} on lab:{self.name}"
                raise LabError(asked, f"it failed with status {done.returncode}\n{done.stdout}{done.stderr}")
            return Traffic(json.loads(counts.read_text()), done.stdout, done.stderr)

    def require(self) -> None:
        """Raises LabUnavailable if the lab cannot run this machine here, and LabError if there is no such machine."""
        __tracebackhide__ = True
        _require(self._nodewise, self.name, os.getcwd())


@functools.cache
def _selftest(nodewise: str, machine: str, _folder: str) -> subprocess.CompletedProcess[str]:
    """Once a session for each machine; relative paths depend on the folder."""
    return _finished([nodewise, "lab", "selftest", machine, "--quiet"])


def _require(nodewise: str, machine: str, folder: str) -> None:
    __tracebackhide__ = True
    done = _selftest(nodewise, machine, folder)
    reason = " ".join(done.stderr.split()).removeprefix("nodewise: ")
    if done.returncode == _LAB_FAILED:
        raise LabUnavailable(f"the lab cannot run {machine}", reason or "its self-test failed")
    if done.returncode != 0:
        raise LabError(f"the machine {machine}", reason)


def _finished(
    words: Sequence[str | os.PathLike[str]],
    env: Mapping[str, str] | None = None,
    cwd: str | os.PathLike[str] | None = None,
) -> subprocess.CompletedProcess[str]:
    try:
        return subprocess.run(
            words, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", env=env, cwd=cwd,
            check=False,
        )  # fmt: skip
    except (FileNotFoundError, PermissionError) as error:
        if error.filename == (cwd and os.fspath(cwd)):
            raise
        hint = "install Nodewise, or name its command by --nodewise=FILE"
        raise LabUnavailable(f"the command {words[0]}", error.strerror or str(error), hint) from None
