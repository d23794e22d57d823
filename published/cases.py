# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Cases: a row of published measurements each, read from cases/*.json. README.md has the fields."""

import json
from dataclasses import dataclass, field
from fractions import Fraction
from pathlib import Path


class CaseError(Exception):
    """A case file that does not say what it should; the text names the file."""


@dataclass(frozen=True)
class Input:
    """A figure that the model is given."""

    set: str  # a name of `nodewise model --set`, with nodes if it has any
    value: float  # as published, in the parameter's unit
    origin: str
    factor: Fraction = Fraction(1)  # what turns it into bytes that really move

    @property
    def word(self) -> str:
        return f"{self.set}={self.value * float(self.factor):.6g}"


@dataclass(frozen=True)
class Run:
    """A program in the lab."""

    program: str
    arguments: tuple[str, ...]
    options: tuple[str, ...] = ()  # of `nodewise run`


@dataclass(frozen=True)
class Number:
    """A published number and how it is predicted: from a run, a described loop, a closed form, or
    as the ratio of two others."""

    name: str
    unit: str = "GB/s"  # GB/s, s, ratio, local:remote
    published: float | None = None
    shape: str = ""  # where no number was published
    at_most: float | None = None  # what the shape demands of the number
    at_least: float | None = None
    is_input: bool = False
    run: str = ""
    region: str = "loop"  # "": the whole program, initialisation too
    published_bytes: float = 0  # by STREAM's count; seconds are scaled to them
    inputs: tuple[Input, ...] = ()
    loop: tuple[str, ...] = ()  # words of `nodewise model`
    closed_form: str = ""
    domains: int = 0
    of: tuple[str, ...] = ()  # names of two others


@dataclass(frozen=True)
class Fit:
    """One parameter, set so that one number is met."""

    set: str
    on: str
    least: float
    most: float


@dataclass(frozen=True)
class Reading:
    """What is assumed beside the inputs. The case's own numbers are told under it, or others."""

    name: str
    limit: str = "memory"
    schedule: str = "static"
    options: tuple[str, ...] = ()
    named: bool = False  # the reading that the case believes in, with the reason in its name
    fit: Fit | None = None
    numbers: tuple[Number, ...] = ()


@dataclass(frozen=True)
class Case:
    name: str  # of the file
    title: str
    source: str
    machine: str
    readings: tuple[Reading, ...]
    runs: dict[str, Run] = field(default_factory=dict)
    inputs: tuple[Input, ...] = ()
    notes: tuple[str, ...] = ()
    unexplained: str = ""

    def all_numbers(self):
        return [number for reading in self.readings for number in reading.numbers]


def _input(entry: dict) -> Input:
    return Input(**{**entry, "factor": Fraction(entry.get("factor", "1"))})


def _number(entry: dict) -> Number:
    changed = {key: tuple(entry[key]) for key in ("loop", "of") if key in entry}
    changed["inputs"] = tuple(_input(each) for each in entry.get("inputs", []))
    return Number(**{**entry, **changed})


def _run(entry: dict) -> Run:
    return Run(entry["program"], tuple(entry["arguments"]), tuple(entry.get("options", [])))


def _reading(entry: dict, numbers: list[dict]) -> Reading:
    changed = {"numbers": tuple(_number(each) for each in entry.get("numbers", numbers))}
    changed["options"] = tuple(entry.get("options", []))
    if "fit" in entry:
        changed["fit"] = Fit(**entry["fit"])
    return Reading(**{**entry, **changed})


def _check(case: Case) -> None:
    for reading in case.readings:
        names = [number.name for number in reading.numbers]
        for number in reading.numbers:
            if number.run and number.run not in case.runs:
                raise CaseError(f"'{number.name}' is of run '{number.run}', which 'runs' has not")
            if not set(number.of) <= set(names):
                raise CaseError(f"'{number.name}' is of {', '.join(number.of)}: not all are numbers")
        if reading.fit and reading.fit.on not in names:
            raise CaseError(f"the fit is on '{reading.fit.on}', which is no number of the reading")


def read(path: Path) -> Case:
    """Throws CaseError for what is no case."""
    try:
        entry = json.loads(path.read_text())
        numbers = entry.pop("numbers", [])
        entry["readings"] = tuple(_reading(each, numbers) for each in entry["readings"])
        entry["runs"] = {name: _run(each) for name, each in entry.get("runs", {}).items()}
        entry["inputs"] = tuple(_input(each) for each in entry.get("inputs", []))
        entry["notes"] = tuple(entry.get("notes", []))
        case = Case(name=path.stem, **entry)
        _check(case)
    except (OSError, ValueError, KeyError, TypeError, CaseError) as failure:
        raise CaseError(f"{path}: {failure}; published/README.md has the fields") from failure
    return case


def read_all(folder: Path) -> list[Case]:
    return [read(path) for path in sorted(folder.glob("*.json"))]
