# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Writes docs/reference from the public headers: read by Doxygen, written as Markdown.

A type, function, value or macro of the interface without a docstring is an error, told by its line. Not
asked for one: fields and values, whose type may say it all; overloads below one that has it; what is
deleted or defaulted, ==, destructors, copies and moves, whose class says which there are; macros of C.
"""

import argparse
import shutil
import sys
import tempfile
from pathlib import Path

import doxygen
import pages
from interface import DocsError, Entity, Header

ROOT = Path(__file__).resolve().parents[2]
NO_DOXYGEN = "reference: there is no doxygen here; scripts/setup installs it (Debian's and Ubuntu's package doxygen)"


def undocumented(entities: list[Entity]) -> list[str]:
    wrong = []
    for title, same in pages.by_title(entities):
        first = same[0]
        if not first.text and first.kind not in ("field", "value"):
            wrong.append(f"include/{first.header}:{first.line}: {title} has no docstring")
        for each in same:
            wrong += undocumented(each.members)
    return wrong


def read(root: Path) -> list[Header]:
    """The public headers. Throws DocsError for what they do not say."""
    with tempfile.TemporaryDirectory(prefix="nodewise-reference-") as scratch:
        headers = doxygen.headers(root, Path(scratch))
    wrong = [line for header in headers for line in undocumented(header.entities)]
    wrong += [f"{each.source}: no comment at its begin says what it is for" for each in headers if not each.purpose]
    if wrong:
        raise DocsError("\n".join(wrong))
    return headers


def write(texts: dict[str, str], folder: Path) -> None:
    """The pages and no others."""
    folder.mkdir(parents=True, exist_ok=True)
    for old in folder.glob("*.md"):
        if old.name not in texts:
            old.unlink()
    for name, text in texts.items():
        (folder / name).write_text(text)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes docs/reference from the public headers.")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the project")
    parser.add_argument("--to", type=Path, help="the folder for the pages, ROOT/docs/reference if not given")
    asked = parser.parse_args()
    if shutil.which("doxygen") is None:
        print(NO_DOXYGEN, file=sys.stderr)
        return 1
    try:
        write(pages.pages(read(asked.root)), asked.to or asked.root / "docs/reference")
    except DocsError as wrong:
        print(wrong, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
