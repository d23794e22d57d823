# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The base's files beside the head's, and where the base's source lines are in the head."""

import bisect
import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from pytest_nodewise.errors import LabError

_HUNK = re.compile(r"@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@")


def git(*words: str, folder: Path) -> str:
    done = subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, errors="replace", check=False)
    if done.returncode != 0:
        answer = done.stderr.strip().splitlines()[-1:] or [f"exit status {done.returncode}"]
        raise LabError(f"git {' '.join(words)}", answer[0])
    return done.stdout


def commit_of(name: str, folder: Path) -> str:
    try:
        return git("rev-parse", "--verify", "--quiet", "--end-of-options", f"{name}^{{commit}}", folder=folder).strip()
    except LabError:
        raise LabError(
            f"--base {name}", "this repository has no such commit",
            "fetch it before: `fetch-depth: 0` of actions/checkout, or GIT_DEPTH: 0 in GitLab",
        ) from None  # fmt: skip


@contextmanager
def base_files(commit: str, root: Path) -> Iterator[Path]:
    """A folder with the files of the commit; it is removed at the end."""
    with tempfile.TemporaryDirectory(prefix="nodewise-base-") as name:
        folder = Path(name).resolve() / "base"
        git("-c", "core.hooksPath=/dev/null", "worktree", "add", "--detach", str(folder), commit, folder=root)
        try:
            yield folder
        finally:
            git("worktree", "remove", "--force", str(folder), folder=root)


@dataclass
class _File:
    name: str  # in the head
    starts: list[int] = field(default_factory=list)  # the first base line that a hunk replaces, ascending
    hunks: list[tuple[int, int, int, int]] = field(default_factory=list)  # base's first, count; head's first, count

    def line(self, number: int) -> int | None:
        at = bisect.bisect_right(self.starts, number) - 1
        if at < 0:
            return number
        old, old_count, new, new_count = self.hunks[at]
        if number >= old + old_count:
            return number + new + new_count - old - old_count
        return new + number - old if old_count == new_count else None


class LineMap:
    """Where lines of the base are in the head. Lines of a hunk keep their order if their number is the same."""

    def __init__(self, diff: str = ""):
        self._files: dict[str, _File] = {}
        old, current = "", None
        for text in diff.splitlines():
            if text.startswith("--- "):
                old, current = text[4:].removeprefix("a/").rstrip("\t"), None
            elif text.startswith("+++ ") and current is None:
                current = self._files[old] = _File(text[4:].removeprefix("b/").rstrip("\t"))
            elif current and (match := _HUNK.match(text)):
                old_at, old_count, new_at, new_count = (int(n) if n is not None else 1 for n in match.groups())
                # Without lines git names the line before.
                old_at, new_at = old_at + (old_count == 0), new_at + (new_count == 0)
                current.starts.append(old_at)
                current.hunks.append((old_at, old_count, new_at, new_count))

    def head(self, file: str, line: int) -> tuple[str, int] | None:
        """None if the line was removed, or changed with others around it."""
        if file not in self._files:
            return file, line
        there = self._files[file].line(line)
        return None if there is None else (self._files[file].name, there)


def line_map(commit: str, root: Path) -> LineMap:
    """From the commit to the files in the folder, whether they are committed or not."""
    options = ["--unified=0", "--find-renames", "--no-color", "--no-ext-diff", "--src-prefix=a/", "--dst-prefix=b/"]
    return LineMap(git("-c", "core.quotePath=off", "diff", *options, commit, "--", folder=root))
