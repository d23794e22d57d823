# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Follows the steps of packaging/Containerfile in a bare system, since a test must not need a container engine."""

import json
import re
import shlex
from dataclasses import dataclass, field
from pathlib import Path

from roots import Root


@dataclass
class Stage:
    """One image of the file. `steps` are its instructions RUN and COPY in order, those of its base first."""

    base: str
    steps: list[tuple[str, str]] = field(default_factory=list)
    variables: dict[str, str] = field(default_factory=dict)
    entry: list[str] = field(default_factory=list)
    default: list[str] = field(default_factory=list)

    def build(self, root: Root, context: Path) -> None:
        """Makes the image in a root of the release that is its base."""
        for word, text in self.steps:
            if word == "COPY":
                *patterns, folder = text.split()
                for file in (file for pattern in patterns for file in context.glob(pattern)):
                    root.put(file, f"{folder}/{file.name}")
                continue
            done = root.run(text, self.variables)
            if done.returncode != 0:
                raise AssertionError(f"RUN {text}\n{done.stdout}")

    def command(self, *arguments: str) -> str:
        """What a container of the image runs, as a command of the shell."""
        return shlex.join([*self.entry, *(arguments or self.default)])


def read(file: Path) -> dict[str, Stage]:
    """The stages by name. AssertionError for what this reader does not understand."""
    text = re.sub(r"^#.*\n", "", file.read_text(), flags=re.MULTILINE)
    stages: dict[str, Stage] = {}
    stage = Stage("")
    for line in re.sub(r"\\\n", "", text).splitlines():
        word, _, rest = line.strip().partition(" ")
        if word == "FROM":
            base, name = rest.split(" AS ")
            of = stages.get(base)
            stage = stages[name] = (
                Stage(of.base, [*of.steps], {**of.variables}, of.entry, of.default) if of else Stage(base)
            )
        elif word in ("RUN", "COPY"):
            stage.steps.append((word, rest))
        elif word == "ENV":
            variable, _, value = rest.partition("=")
            stage.variables[variable] = value
        elif word == "ENTRYPOINT":
            stage.entry = json.loads(rest)
        elif word == "CMD":
            stage.default = json.loads(rest)
        elif line.strip():
            raise AssertionError(f"{file.name}: not understood: {line}")
    return stages
