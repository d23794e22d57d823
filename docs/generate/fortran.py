# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What Fortran modules make public. Of Doxygen's XML names, places and paragraphs are used; it does not
tell the types of arguments, so declarations are the module's own lines."""

import re
import xml.etree.ElementTree as ET
from pathlib import Path

from declarations import place_of, plain, text_of
from interface import Entity

PUBLIC = re.compile(r"^\s*public :: ([^&\n]*(?:&\n[^&\n]*)*)", re.MULTILINE)
ARGUMENT = re.compile(r"\s*\w.*\bintent\(\w+\).*::")


def public_names(text: str) -> set[str]:
    return {name for names in PUBLIC.findall(text) for name in re.findall(r"\w+", names)}


def declaration(lines: list[str], at: int) -> str:
    """The statement that begins in a line, and below it what it says of its arguments or, of a generic
    interface, its procedures."""
    taken = [lines[at]]
    while taken[-1].rstrip().endswith("&"):
        taken.append(lines[at + len(taken)])
    rest = lines[at + len(taken) :]
    if re.match(r"\s*(interface|type\b)", taken[0]):
        return re.sub(r"\s*!<.*$", "", taken[0]).strip()
    result = re.search(r"\bresult\((\w+)\)", taken[-1])
    for line in rest:
        if not ARGUMENT.match(line) and not (result and line.endswith(f":: {result[1]}")):
            break
        taken.append(line)
    depth = len(taken[0]) - len(taken[0].lstrip())
    return "\n".join(re.sub(r"\s*!<.*$", "", line[depth:]) for line in taken)


def entities(headers: dict[str, Path], compounds: list[ET.Element]) -> list[Entity]:
    lines = {name: path.read_text().splitlines() for name, path in headers.items()}
    public = {name: public_names(path.read_text()) for name, path in headers.items()}

    def entity(kind: str, name: str, element: ET.Element) -> Entity | None:
        header, line = place_of(element)
        if name not in public[header]:
            return None
        return Entity(kind, name, header, line, declaration(lines[header], line - 1), text_of(element))

    found: dict[str, Entity] = {}
    for element in compounds:
        kind = element.get("kind")
        if kind in ("interface", "type", "class", "struct"):
            name = plain(element.find("compoundname")).rpartition("::")[2]
            made = entity("class", name, element)
            if made is not None:
                found[name] = made
                made.members = fields(element, lines[made.header]) if kind != "interface" else []
        elif kind == "namespace":
            for each in element.iter("memberdef"):
                name = plain(each.find("name"))
                made = entity(each.get("kind"), name, each)
                if made is not None:
                    found[name] = made
    return list(found.values())


def fields(element: ET.Element, lines: list[str]) -> list[Entity]:
    """What a type's docstrings tell of; private components have none."""
    made = []
    for each in element.iter("memberdef"):
        if text_of(each):
            header, line = place_of(each)
            code = lines[line - 1].partition("!<")[0].strip()
            made.append(Entity("field", plain(each.find("name")), header, line, code, text_of(each)))
    return made
