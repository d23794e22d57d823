# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The published table: each case's programs run in the lab, their traffic priced by the model, and
the result held against what was published."""

import argparse
import json
import os
import sys
from pathlib import Path

import figures
import layout
import problems
from answers import Answer, Answers, Told
from cases import Case, CaseError, read_all
from lab import Lab, LabError
from model import Model, ModelError

HERE = Path(__file__).resolve().parent
BUILD = Path(os.environ.get("NODEWISE_BUILD", HERE.parent / "build/release"))

INTRODUCTION = """\
What was published of memory placement, and what Nodewise says of it. Programs run in the
lab, on virtual machines with modelled caches, where their traffic is counted; the model
prices the counts. "published" is the source's number; "inputs" are the published figures
that the model was given; "fitted" is a parameter that was set so that one number is met,
which is no prediction; "predicted" is the model's own, or the lab's count; "local seen" is
the share of lines that the lab counted as local. GB/s are by STREAM's count. Several
readings stand side by side where the source leaves something open."""

FIGURES = """\
The published curves are not available to us: what is known of their shapes stands beside what
the model draws."""


def answer_as_json(answer: Answer) -> dict:
    number = answer.number
    return {
        "name": number.name,
        "unit": number.unit,
        "published": number.published if number.published is not None else number.shape,
        "inputs": [each.word for each in answer.inputs],
        "is_input": number.is_input,
        "fitted_on": answer.fitted_on,
        "predicted": answer.predicted,
        "error": answer.error,
        "shape_holds": answer.shape_holds,
        "local_seen": answer.local,
    }


def case_as_json(case: Case, all_told: list[Told]) -> dict:
    return {
        "case": case.name,
        "source": case.source,
        "title": case.title,
        "machine": case.machine,
        "unexplained": case.unexplained,
        "readings": [
            {
                "name": told.reading.name,
                "limit": told.reading.limit,
                "named": told.reading.named,
                "fitted": told.fitted,
                "numbers": [answer_as_json(answer) for answer in told.answers],
            }
            for told in all_told
        ],
    }


def tell_cases(arguments, lab: Lab, model: Model) -> tuple[list[dict], list[str]]:
    """Prints the table; returns it as JSON and as Markdown, case by case."""
    answers = Answers(lab, model)
    as_json, as_markdown = [], []
    for case in read_all(arguments.cases):
        if arguments.only and case.name not in arguments.only:
            continue
        all_told = answers.of(case)
        print("\n" + layout.case_as_text(case, all_told), flush=True)
        as_json.append(case_as_json(case, all_told))
        as_markdown.append(layout.case_as_markdown(case, all_told))
    return as_json, as_markdown


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=Path, default=BUILD, help="a build tree")
    parser.add_argument("--cases", type=Path, default=HERE / "cases")
    parser.add_argument("--output", type=Path, default=BUILD.parent / "published", help="folder")
    parser.add_argument("--only", nargs="*", help="names of cases; the problems and figures are left out")
    parser.add_argument("--quiet", action="store_true", help="do not say what runs")
    return parser.parse_args()


def tell(arguments: argparse.Namespace) -> None:
    told = (lambda _: None) if arguments.quiet else (lambda text: print(text, file=sys.stderr))
    lab = Lab(arguments.build, arguments.output, told)
    model = Model(arguments.build / "bin/nodewise")
    print(INTRODUCTION)
    as_json, as_markdown = tell_cases(arguments, lab, model)
    document = {"cases": as_json}
    pages = ["# Published and predicted", INTRODUCTION, *as_markdown]
    if not arguments.only:
        solved = problems.all_of(lab, model)
        text = "\n\n".join(problem.as_text() for problem in solved)
        print("\n" + text)
        document["problems"] = [problem.as_json() for problem in solved]
        pages += ["# Problems 8.1 to 8.5", "```\n" + text + "\n```"]
        drawn = figures.draw(lab, model, arguments.output)
        print("\n" + layout.wrapped(FIGURES, ""))
        for figure in drawn:
            print(f"{figure.path}\n" + layout.wrapped(figure.text))
        document["figures"] = [figure.as_json() for figure in drawn]
        pages += ["# Figures", FIGURES, *(f"![{f.title}]({f.path.name})\n\n{f.text}" for f in drawn)]
    (arguments.output / "table.json").write_text(json.dumps(document, indent=1) + "\n")
    (arguments.output / "table.md").write_text("\n\n".join(pages) + "\n")
    print(f"\n{arguments.output / 'table.md'}\n{arguments.output / 'table.json'}")


def main() -> int:
    arguments = parsed()
    arguments.output.mkdir(parents=True, exist_ok=True)
    try:
        tell(arguments)
    except (CaseError, LabError, ModelError) as failure:
        print(f"published: {failure}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
