# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Several programs counted in one virtual machine: starting it costs as much as a small program."""

import json
import os
import shlex
import subprocess
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import lab

NODEWISE = lab.BUILD / "bin/nodewise"
# Threads bind themselves where `run` binds none: pthreads and oneTBB do not read these.
ENVIRONMENT = {"OMP_PLACES": "cores", "OMP_PROC_BIND": "close"}


@dataclass
class Fills:
    local: int = 0
    remote: int = 0

    @property
    def all(self) -> int:
        return self.local + self.remote

    @property
    def share(self) -> float:
        return self.remote / self.all if self.all else 0.0


@dataclass
class Counted:
    """One program of a batch: fills in use, together, by the name of objects, and of each name by the
    memory's node; "" is what no object covers. The same by the addresses of each object. Lines that several
    processors write, as the result has them."""

    status: int
    output: str
    use: Fills = field(default_factory=Fills)
    objects: dict[str, Fills] = field(default_factory=lambda: defaultdict(Fills))
    memories: dict[str, dict[int, int]] = field(default_factory=lambda: defaultdict(lambda: defaultdict(int)))
    ranges: dict[range, Fills] = field(default_factory=lambda: defaultdict(Fills))
    shared: list[dict] = field(default_factory=list)

    def imbalance(self, nodes: int, objects: tuple[str, ...] = ()) -> float:
        """Of these objects, or of everything: fills from the busiest memory over the mean of all."""
        fills = defaultdict(int)
        for name, memories in self.memories.items():
            for node, count in memories.items():
                fills[node] += count if not objects or name in objects else 0
        return max(fills.values()) * nodes / sum(fills.values())

    def arrays(self, least: float) -> dict[str, Fills]:
        """The objects with at least that share of the fills."""
        most = least * self.use.all
        return {name: each for name, each in self.objects.items() if name and each.all >= most}


def run_batch(
    machine: str,
    commands: list[list[str]],
    directory: Path,
    run: tuple[str, ...] = ("--bind", "close"),
    lab_options: tuple[str, ...] = (),
    timeout: int = 1400,
    environment: dict[str, str] = ENVIRONMENT,
) -> list[Counted]:
    """Runs the commands one after the other on a machine, each under `nodewise run` with these
    options and variables, and returns their counts in the same order: processes are numbered as they start. A failing
    command does not end the others; RuntimeError where the machine or the count fails. The time limit, in seconds, is
    that of all commands together: nearly that of a test, since the host's processors may be shared with others."""
    lines = []
    for number, command in enumerate(commands):
        started = shlex.join([str(NODEWISE), "run", "--quiet", *run, "--", *command])
        lines.append(f"{started} > output.{number}; echo {number} $? >> statuses")
    (directory / "batch.sh").write_text("\n".join(lines) + "\n")
    (directory / "statuses").unlink(missing_ok=True)  # of a batch before
    done = subprocess.run(
        [NODEWISE, "run", "--on", f"lab:{machine}", "--on-timeout", str(timeout), *lab_options, "--quiet",
         "--on-counts", "counts.json", "--", "sh", "batch.sh"],
        cwd=directory, env={**os.environ, **environment}, stdin=subprocess.DEVNULL,
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode != 0:
        raise RuntimeError(f"{machine}: status {done.returncode}\n{done.stdout}{done.stderr}")
    statuses = dict(line.split() for line in (directory / "statuses").read_text().splitlines())
    document = json.loads((directory / "counts.json").read_text())
    (directory / "statuses").unlink()
    processes = iter(sorted((each["pid"], each["name"]) for each in document["programs"]))
    batch = {}
    for number, command in enumerate(commands):
        name = Path(command[0]).name
        pid = next((pid for pid, running in processes if running == name), -1 - number)
        output = (directory / f"output.{number}").read_text()
        batch[pid] = Counted(int(statuses[str(number)]), output)
    _count(document, batch)
    return list(batch.values())


def _count(document: dict, batch: dict[int, Counted]) -> None:
    """Adds what a nodewise/traffic/1 says of each process."""
    sites, ranges = {}, {}
    for each in document["objects"]:
        key = (each["pid"], each["object"])
        sites[key] = document["sites"][each["site"]]["name"]
        ranges[key] = range(int(each["start"], 16), int(each["start"], 16) + each["bytes"])
    for pages in document["pages"]:
        if (counted := batch.get(pages["pid"])) is None:
            continue
        key = (pages["pid"], pages.get("object", -1))
        site = sites.get(key, "")
        for fills in (counted.use, counted.objects[site], counted.ranges[ranges.get(key, range(0))]):
            fills.local += pages["use"]["local_fills"]
            fills.remote += pages["use"]["remote_fills"]
        counted.memories[site][pages["node"]] += sum(pages["use"].values())
    for line in document["shared"]:
        if line["pid"] in batch:
            batch[line["pid"]].shared.append(line)
