# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the public headers declare: values that pages are written from, whoever read the headers."""

import re
import xml.etree.ElementTree as ET
from dataclasses import dataclass, field
from pathlib import Path


class DocsError(Exception):
    """What is wrong with the headers or with Doxygen, a line each."""


@dataclass
class Entity:
    """A type, function, value or macro of the interface. Overloads are entities of the same title."""

    kind: str  # class, struct, concept, enum, typedef, function, variable, define; in them: field, value
    title: str  # as programs write it, with the class, without the namespace: `array::migrate`
    header: str  # relative to include/
    line: int
    declaration: str
    text: list[ET.Element] = field(default_factory=list)  # paragraphs
    members: list["Entity"] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.title.rpartition("::")[2]


@dataclass
class Header:
    name: str  # relative to include/
    source: str  # relative to the root
    purpose: str  # Markdown, as `details`: what the comment that the file begins with says first
    example: str = ""  # code
    details: str = ""  # what the comment says below
    includes: list[str] = field(default_factory=list)  # headers of ours, relative to include/
    entities: list[Entity] = field(default_factory=list)  # in the header's order

    @property
    def page(self) -> str:
        return page_of(self.name)

    @property
    def language(self) -> str:
        return {".h": "c", ".f90": "fortran"}.get(Path(self.name).suffix, "cpp")


def page_of(header: str) -> str:
    """C++ headers by their stem; others may have the same one, and keep their suffix."""
    return Path(header).name.removesuffix(".hpp") + ".md"


def public_headers(root: Path) -> dict[str, Path]:
    """The files by what programs include, and for detail/ nobody includes: by their names under include/."""
    include = root / "include"
    found = [include / "nodewise.h", *(path for path in (include / "nodewise").iterdir() if path.is_file())]
    headers = {path.relative_to(include).as_posix(): path for path in found}
    headers["nodewise/version.hpp"] = root / "cmake/version.hpp.in"
    return dict(sorted(headers.items()))


def opening_comment(text: str) -> str:
    """The comment that a file begins with, below the line of copyright, without its marks."""
    if text.startswith("/*"):
        comments = re.match(r"(?:/\*.*?\*/\s*)+", text, re.DOTALL)[0]
        lines = [re.sub(r"^\s*/?\*+/?( |$)|\s*\*/\s*$", "", line) for line in comments.splitlines()]
    else:
        mark = re.match(r"//|!", text)[0]
        lines = []
        for line in text.splitlines():
            if not line.startswith(mark):
                break
            lines.append(line.removeprefix(mark).removeprefix(" "))
    return "\n".join(line.rstrip() for line in lines if "Copyright" not in line).strip()


def opening(text: str) -> tuple[str, str, str]:
    """The comment that a file begins with: its first paragraph, the example below that, and the rest. An example
    is the second paragraph and those after it, as long as their lines are indented by four blanks. It is the body of
    a main() in C or C++, below #include lines of the other headers of ours that it needs; Fortran's have none."""
    purpose, _, rest = opening_comment(text).partition("\n\n")
    indented = None if text.startswith("!") else re.match(r"(?:(?: {4}[^\n]*)?(?:\n|$))+", rest)
    if not rest.startswith("    ") or indented is None:
        return purpose, "", rest
    code = "\n".join(line.removeprefix("    ") for line in indented[0].rstrip().split("\n"))
    return purpose, code, rest[indented.end() :]
