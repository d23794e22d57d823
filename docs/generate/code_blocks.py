# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Writes code into the documentation from the sources that are compiled and tested.

A code block whose code is a source's has one of these lines above it, paths from the root:

    <!-- code: examples/first-touch/library.cpp -->                      all below its opening comment
    <!-- code: examples/first-touch/library.cpp, body of main -->
    <!-- code: examples/first-touch/library.cpp, definition of main -->   of a function or a class
    <!-- code: examples/first-touch/library.cpp, from "teams.fill(a" to "to_string(done)" -->

`from` and `to` are texts of the first and the last line; the first must be in one line only. A folder or a
function of another name, or a text that is gone, is an error: the page then says what is no longer so.
"""

import argparse
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("*.md", "docs/*.md", "examples/*.md")
BLOCK = re.compile(r"^<!-- code: (?P<what>.*?) -->\n(?P<open>```\w*\n)(?P<code>.*?)^```$", re.MULTILINE | re.DOTALL)
MARK = re.compile(r"^<!-- code: ", re.MULTILINE)
WHAT = re.compile(
    r'(?P<path>[^,]+)(?:, (?:(?P<part>body|definition) of (?P<name>\w+)|from "(?P<first>.+?)" to "(?P<last>.+?)"))?$'
)


class BlockError(Exception):
    """A code block that cannot be written, and why."""


def below_opening_comment(lines: list[str]) -> list[str]:
    first = next((k for k, line in enumerate(lines) if not line.startswith(("//", "!", "#!", "/*", " *"))), 0)
    return lines[first:]


def definition(lines: list[str], name: str) -> list[str]:
    """From the line that begins a function or class to the one that closes it, by their indentation."""
    begins = re.compile(rf"^(\s*)(?:(?:class|struct) {name}\b[^;]*|[^\s/#].*\b{name}\([^;]*)$")
    for first, line in enumerate(lines):
        if match := begins.match(line):
            closing = match[1] + "}"
            for last in range(first + 1, len(lines)):
                if lines[last].startswith(closing):
                    return lines[first : last + 1]
    raise BlockError(f"no definition of {name}")


def between(lines: list[str], first: str, last: str) -> list[str]:
    begins = [k for k, line in enumerate(lines) if first in line]
    if len(begins) != 1:
        raise BlockError(f"{len(begins)} lines with '{first}', not 1")
    for k in range(begins[0], len(lines)):
        if last in lines[k]:
            return lines[begins[0] : k + 1]
    raise BlockError(f"no line with '{last}' after '{first}'")


def dedented(lines: list[str]) -> list[str]:
    """Without the indentation that all lines have but the preprocessor's, which have none."""
    indented = [len(line) - len(line.lstrip()) for line in lines if line and not line.startswith("#")]
    depth = min(indented, default=0)
    return [line if line.startswith("#") else line[depth:] for line in lines]


def code_of(root: Path, what: str) -> str:
    """The code that a marker names, with the indentation of its outermost line taken away."""
    match = WHAT.match(what)
    if match is None:
        raise BlockError("not understood; docs/generate/code_blocks.py lists the forms")
    path = root / match["path"]
    if not path.is_file():
        raise BlockError("no such file")
    lines = path.read_text().splitlines()
    if match["first"] is not None:
        lines = between(lines, match["first"], match["last"])
    elif match["name"] is not None:
        lines = definition(lines, match["name"])
        if match["part"] == "body":
            opened = next(k for k, line in enumerate(lines) if line.endswith("{"))
            lines = lines[opened + 1 : -1]
    else:
        lines = below_opening_comment(lines)
    return "\n".join(dedented(lines)).strip("\n") + "\n"


def rewritten(root: Path, page: str) -> str:
    """The text of a page with the code of its sources."""

    def block(match: re.Match) -> str:
        try:
            return f"<!-- code: {match['what']} -->\n{match['open']}{code_of(root, match['what'])}```"
        except BlockError as wrong:
            raise BlockError(f"code: {match['what']}: {wrong}") from None

    found = len(BLOCK.findall(page))
    if found != len(MARK.findall(page)):
        raise BlockError("a line '<!-- code: ... -->' without a code block below it")
    return BLOCK.sub(block, page)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes code into the documentation from its sources.")
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 if a page is not as its sources")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the project")
    asked = parser.parse_args()
    wrong = 0
    for path in sorted(path for pattern in PAGES for path in asked.root.glob(pattern)):
        before = path.read_text()
        try:
            after = rewritten(asked.root, before)
        except BlockError as error:
            print(f"{path.relative_to(asked.root)}: {error}", file=sys.stderr)
            wrong = 1
            continue
        if after != before and asked.check:
            print(f"{path.relative_to(asked.root)}: code is not as its source; run `make reference`", file=sys.stderr)
            wrong = 1
        elif after != before:
            path.write_text(after)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
