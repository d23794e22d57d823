# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Puts tests/foreign/results.json into docs/foreign.md, between its two marks, as a table."""

import json
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs/foreign.md"
BEGIN, END = "<!-- table -->\n", "<!-- end of table -->\n"


def cell(mode: dict) -> str:
    cases = mode["same"] + len(mode["different"])
    if cases == 0:
        return "not run"
    ratio = mode["seconds"] / mode["seconds_without"] if mode["seconds_without"] else 1
    return f"{mode['same']} of {cases}, {ratio:.2f}"


def table(results: dict) -> str:
    modes = list(dict.fromkeys(mode for each in results.values() for mode in each["modes"]))
    lines = [["program", "cases", "pass without", *modes, "date, commit"], ["---"] * (len(modes) + 4)]
    for name, each in results.items():
        cells = [cell(each["modes"][mode]) if mode in each["modes"] else "not run" for mode in modes]
        part = "" if each["every"] == 1 else f" (each {each['every']}th)"
        done = "" if each["complete"] else ", not complete"
        lines.append([name, f"{each['cases']}{part}{done}", str(each["pass_without"]), *cells, f"{each['date']}, {each['commit']}"])
    return "".join("| " + " | ".join(line) + " |\n" for line in lines)


def different(results: dict) -> str:
    found = [
        f"- {name}, {mode}: {case}: {what['code']} {what['outcome'][:200]}".rstrip() + "\n"
        for name, each in results.items() for mode, result in each["modes"].items() for case, what in result["different"].items()
    ]  # fmt: skip
    return "\nNot the same:\n\n" + "".join(found) if found else ""


def write(results: dict) -> None:
    before, _, rest = PAGE.read_text().partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(before + BEGIN + "\n" + table(results) + different(results) + "\n" + END + after)


if __name__ == "__main__":
    write(json.loads((ROOT / "tests/foreign/results.json").read_text()))
