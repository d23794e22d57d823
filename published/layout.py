# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The published table for people: as text of 92 columns, and in Markdown."""

import textwrap

from answers import Answer, Told
from cases import Case, Input, Number

WIDTH = 92
HEADS = ("", "published", "inputs", "fitted", "predicted", "error", "local seen")
COLUMNS = (32, 12, 7, 9, 12, 9, 11)


def figure(number: Number, value: float | None) -> str:
    if value is None:
        return "-"
    if number.unit == "s":
        return f"{value:.4f} s"
    if number.unit == "GB/s":
        return f"{value:.2f} GB/s"
    if number.unit == "p":
        return f"{value:.2f} p"
    return f"{value:.2f}"


def error(answer: Answer) -> str:
    if answer.error is not None and answer.error >= 9:
        return f"x {1 + answer.error:.0f}"
    if answer.error is not None:
        return f"{answer.error + 0.0:+.1%}".replace("%", " %").replace("-0.0", "+0.0")
    if answer.number.is_input:
        return "input"
    if answer.fitted_on:
        return "fitted"
    holds = answer.shape_holds
    return "-" if holds is None else "holds" if holds else "fails"


def input_numbers(case: Case) -> list[Input]:
    """All inputs of a case, each once: its place is its number."""
    found: list[Input] = []
    for each in (*case.inputs, *(i for n in case.all_numbers() for i in n.inputs)):
        if each not in found:
            found.append(each)
    return found


def cells(told: Told, answer: Answer, known: list[Input]) -> tuple[str, ...]:
    number = answer.number
    return (
        number.name,
        number.shape or figure(number, number.published),
        ",".join(str(known.index(each) + 1) for each in answer.inputs) or "-",
        "-" if told.fitted is None or not answer.inputs else f"{told.fitted:.3f}",
        figure(number, answer.predicted),
        error(answer),
        "-" if answer.local is None else f"{answer.local:.1%}".replace("%", " %"),
    )


def input_text(place: int, each: Input) -> str:
    times = "" if each.factor == 1 else f" x {each.factor}"
    return f"[{place}] {each.set} = {each.value:g}{times}: {each.origin}"


def reading_text(told: Told) -> str:
    facts = []
    if any(answer.seconds is not None for answer in told.answers):
        facts.append(f"--limit {told.reading.limit}")
    if told.reading.schedule == "dynamic":
        facts.append("work pooled")
    if told.reading.fit:
        facts.append(f"{told.reading.fit.set} fitted on '{told.reading.fit.on}'")
    return told.reading.name + (f" ({'; '.join(facts)})" if facts else "")


def remarks(case: Case) -> list[str]:
    marked = [f"NOT EXPLAINED by the published inputs: {case.unexplained}"] if case.unexplained else []
    return [*case.notes, *marked]


def wrapped(text: str, indent: str = "  ") -> str:
    return textwrap.fill(text, WIDTH, initial_indent=indent, subsequent_indent=indent + "  ")


def row(texts: tuple[str, ...]) -> str:
    name = textwrap.wrap(texts[0], COLUMNS[0] - 3) or [""]
    rest = "".join(text.rjust(width) for text, width in zip(texts[1:], COLUMNS[1:]))
    first = f"  {name[0]:<{COLUMNS[0] - 2}}{rest}".rstrip()
    return "\n".join([first, *(f"    {more}" for more in name[1:])])


def case_as_text(case: Case, all_told: list[Told]) -> str:
    known = input_numbers(case)
    lines = [wrapped(f"{case.source}: {case.title}", "")]
    lines.append(f"  machine: {case.machine or 'none'}")
    lines += [wrapped(input_text(i + 1, each)) for i, each in enumerate(known)]
    for told in all_told:
        lines += ["", wrapped(f"reading: {reading_text(told)}"), row(HEADS)]
        lines += [row(cells(told, answer, known)) for answer in told.answers]
    lines += [wrapped(text) for text in remarks(case)]
    return "\n".join(lines)


def case_as_markdown(case: Case, all_told: list[Told]) -> str:
    known = input_numbers(case)
    lines = [f"## {case.source}: {case.title}", "", f"Machine: {case.machine or 'none'}.", ""]
    lines += [f"- {input_text(i + 1, each)}" for i, each in enumerate(known)]
    for told in all_told:
        lines += ["", f"*{reading_text(told)}*", ""]
        lines += ["| " + " | ".join(HEADS) + " |", "|---" * len(HEADS) + "|"]
        lines += ["| " + " | ".join(cells(told, answer, known)) + " |" for answer in told.answers]
    lines += ["", *(f"{text}\n" for text in remarks(case))]
    return "\n".join(lines)
