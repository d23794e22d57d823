# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The memory traffic of a run, as the schema nodewise/traffic/1 describes it."""

from collections.abc import Callable

from .errors import LabError

# As `nodewise lab check` requires: fewer cache lines come from the loader and the C library.
LEAST_LINES_TO_JUDGE = 1024
_PHASES = {"use": ("use",), "init": ("init",), "all": ("init", "use")}
_MOST_NAMES = 20


class Traffic:
    """What a program fetched from which memory.

    `document` is the whole result, `stdout` and `stderr` are what the program printed.
    """

    def __init__(self, document: dict, stdout: str = "", stderr: str = ""):
        self.document = document
        self.stdout = stdout
        self.stderr = stderr

    def remote(self, array: str | None = None, *, line: str | None = None, phase: str = "use") -> float:
        """The share of the cache lines that did not come from the local node, from 0 to 1.

        Of all traffic; of one array: a static array's name, or FILE:LINE or FILE of the allocation; or of the source
        line FILE:LINE. Cache lines from an unknown node count as remote. `phase` is use, init or all.
        """
        __tracebackhide__ = True  # pytest shows the test's line
        if array is not None and line is not None:
            raise LabError("remote()", "it takes an array or a line, not both", "source lines are not counted by array")
        if phase not in _PHASES:
            raise LabError(f"phase={phase!r}", "it is not a phase", "write 'use', 'init' or 'all'")
        if array is not None:
            entries = self._named("array", array, self._arrays(), _answers_to_array)
        elif line is not None:
            entries = self._named("line", line, self.document["lines"], _answers_to_line)
        else:
            entries = [self.document]
        lines, share = _remote(entries, phase)
        if share is None:
            what = array or line or "all traffic"
            raise LabError(
                f"the remote share of {what} (phase: {phase})",
                f"{lines} cache lines are too few to judge (fewer than {LEAST_LINES_TO_JUDGE})",
                "use a larger input, so that the data does not fit into the caches",
            )
        return share

    def arrays(self, phase: str = "use") -> dict[str, float]:
        """The remote share of each array that has enough cache lines to judge, most remote lines first."""
        return _shares(self._arrays(), phase)

    def lines(self, phase: str = "use") -> dict[str, float]:
        """The remote share of each source line that has enough cache lines to judge, most remote lines first."""
        return _shares(self.document["lines"], phase)

    def __repr__(self) -> str:
        shown = {name: f"{share:.1%}" for name, share in self.arrays().items()}
        return f"<Traffic on {self.document['machine']['name']}: remote in use: {shown}>"

    def _arrays(self) -> list[dict]:
        return [site for site in self.document["sites"] if site["kind"] != "other"]

    def _named(self, kind: str, name: str, entries: list[dict], answers: Callable[[dict, str], bool]) -> list[dict]:
        __tracebackhide__ = True
        found = [entry for entry in entries if answers(entry, name)]
        if not found:
            known = list(dict.fromkeys(entry["name"] for entry in entries))
            listed = ", ".join(known[:_MOST_NAMES]) + (", ..." if len(known) > _MOST_NAMES else "")
            hint = f"these are known: {listed}" if known else "none is known; build the program with -g"
            raise LabError(f"{kind} {name!r}", f"the program has no such {kind}", hint)
        return found


def _remote(entries: list[dict], phase: str) -> tuple[int, float | None]:
    """How many cache lines these entries have, and which share of them was not local, if they are enough."""
    parts = [entry[each] for entry in entries for each in _PHASES[phase]]
    remote = sum(part["remote_lines"] + part["unknown_lines"] for part in parts)
    lines = remote + sum(part["local_lines"] for part in parts)
    return lines, remote / lines if lines >= LEAST_LINES_TO_JUDGE else None


def _shares(entries: list[dict], phase: str) -> dict[str, float]:
    by_name: dict[str, list[dict]] = {}
    for entry in entries:
        by_name.setdefault(entry["name"], []).append(entry)
    shares = {name: _remote(same, phase)[1] for name, same in by_name.items()}
    return {name: share for name, share in shares.items() if share is not None}


def _answers_to_array(site: dict, name: str) -> bool:
    return name == site["name"] or _answers_to_line(site, name) or _path_ends_in(site.get("file", ""), name)


def _answers_to_line(entry: dict, name: str) -> bool:
    return name == entry["name"] or ("file" in entry and _path_ends_in(f"{entry['file']}:{entry.get('line')}", name))


def _path_ends_in(path: str, name: str) -> bool:
    return bool(name) and (path == name or path.endswith("/" + name.removeprefix("/")))
