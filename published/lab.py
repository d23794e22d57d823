# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Programs run and counted in the lab, each only once."""

import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

from cases import Run

# What a program of published/programs says of a region (measured.h).
BYTES = re.compile(r"^(\S+): (\d+) bytes by STREAM's count$", re.M)


class LabError(Exception):
    """A run that failed: the command, its status and what it said."""


@dataclass(frozen=True)
class Count:
    """A counts file, schema nodewise/traffic/1, and the bytes of each region by STREAM's count."""

    path: Path
    document: dict
    stream_bytes: dict[str, int]

    def lines(self, region: str) -> tuple[int, int]:
        """Local and remote lines that were asked for; region "" is the whole program."""
        cells = [r for r in self.document["regions"] if r["name"] == region]
        if not region:
            cells = self.document["matrix"]
        local = sum(c["fills"] + c["streams"] for c in cells if c["from"] == c["to"])
        return local, sum(c["fills"] + c["streams"] for c in cells) - local

    def local_share(self, region: str) -> float:
        local, remote = self.lines(region)
        return local / (local + remote)

    def memory_shares(self) -> dict[int, float]:
        """Of the pages of all arrays, by node."""
        pages: dict[int, int] = {}
        for site in self.document["sites"]:
            if site["kind"] != "other":
                for share in site["pages_per_node"]:
                    pages[share["node"]] = pages.get(share["node"], 0) + share["pages"]
        total = sum(pages.values())
        return {node: count / total for node, count in sorted(pages.items())}


class Lab:
    def __init__(self, build: Path, output: Path, told=print):
        self._nodewise, self._told = build / "bin/nodewise", told
        self._programs, self._examples = build / "published", build / "examples"
        self._folder = output / "counts"
        self._folder.mkdir(parents=True, exist_ok=True)
        self._known: dict[tuple, Count] = {}

    def count(self, machine: str, run: Run, options: tuple[str, ...] = ()) -> Count:
        """Throws LabError. `options` come behind those of the run."""
        words = (*run.options, *options, "--", str(self._program(run.program)), *run.arguments)
        key = (machine, words)
        if key not in self._known:
            self._known[key] = self._counted(machine, words, run.program)
        return self._known[key]

    def _program(self, name: str) -> Path:
        """"stream" is one of published/programs, "triangular/triangular" one of the examples."""
        return (self._examples if "/" in name else self._programs) / name

    def _counted(self, machine: str, words: tuple[str, ...], program: str) -> Count:
        name = f"{len(self._known):02}-{Path(program).name}-{machine.removeprefix('lab:')}.json"
        path = self._folder / name
        command = [str(self._nodewise), "run", "--on", machine, "--on-counts", str(path), *words]
        # Nothing of the caller's may bind threads.
        environment = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "KMP_", "GOMP_"))}
        self._told(f"in the lab: {' '.join((machine, *words))}")
        done = subprocess.run(command, capture_output=True, text=True, env=environment, check=False)
        if done.returncode != 0:
            raise LabError(f"{' '.join(command)} ended with {done.returncode}:\n{done.stdout}{done.stderr}")
        said = {name: int(count) for name, count in BYTES.findall(done.stdout)}
        return Count(path, json.loads(path.read_text()), said)
