# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Doxygen's XML of the public headers, as entities.

Of the XML only what all versions since 1.9.4 write alike is used: names, types, parameters, places and
paragraphs. Code is spaced here, since Doxygen's own spacing changes.
"""

import re
import subprocess
import xml.etree.ElementTree as ET
from pathlib import Path

import declarations
import fortran
from declarations import place_of, plain, text_of
from interface import DocsError, Entity, Header, opening, public_headers

# Inline namespaces are for the linker; macros that mark exports mean nothing to readers.
INLINE_NAMESPACE = "::inline v0"
NAMESPACE = "nodewise::"
SETTINGS = """
QUIET = YES
WARN_IF_UNDOCUMENTED = NO
RECURSIVE = YES
FILE_PATTERNS = *.h *.hpp *.f90
GENERATE_HTML = NO
GENERATE_LATEX = NO
GENERATE_XML = YES
XML_PROGRAMLISTING = NO
EXTRACT_ALL = YES
AUTOLINK_SUPPORT = NO
SORT_MEMBER_DOCS = NO
MACRO_EXPANSION = YES
EXPAND_ONLY_PREDEF = YES
SEARCH_INCLUDES = NO
PREDEFINED = NODEWISE_API= NODEWISE_C_API= NODEWISE_NAMED_BY_CALLER= __extension__= _OPENMP=202011
"""
COMPOUNDS = {"class", "struct", "concept"}


def compounds(headers: dict[str, Path], scratch: Path) -> list[ET.Element]:
    """The files, namespaces and classes that Doxygen finds in headers of one language: Fortran's modules
    would be taken for C++'s namespaces."""
    for name, path in headers.items():
        staged = scratch / "include" / name
        staged.parent.mkdir(parents=True, exist_ok=True)
        staged.write_text(path.read_text().replace(INLINE_NAMESPACE, ""))
    places = f"INPUT = {scratch}/include\nSTRIP_FROM_PATH = {scratch}/include\nOUTPUT_DIRECTORY = {scratch}\n"
    done = subprocess.run(["doxygen", "-"], input=SETTINGS + places, capture_output=True, text=True, check=False)
    if done.returncode != 0 or done.stderr:
        raise DocsError(f"doxygen: status {done.returncode}\n{done.stderr}".replace(f"{scratch}/", ""))
    files = sorted(path for path in (scratch / "xml").glob("*.xml") if path.name != "index.xml")
    return [compound for path in files for compound in ET.parse(path).getroot().iter("compounddef")]


def entity(kind: str, title: str, element: ET.Element, declaration: str) -> Entity:
    return Entity(kind, title.removeprefix(NAMESPACE), *place_of(element), declaration, text_of(element))


def enum(element: ET.Element, title: str) -> Entity:
    made = entity("enum", title, element, declarations.enum(element))
    for each in element.findall("enumvalue"):
        row = Entity("value", f"{title}::{plain(each.find('name'))}", made.header, made.line, declarations.value(each))
        row.text = text_of(each)
        made.members.append(row)
    return made


def member(element: ET.Element, scope: str, in_class: bool) -> Entity | None:
    """A member of a file, a namespace or a class; None for what is no part of the interface, or needs no
    word: what is deleted or defaulted, destructors, copies, moves, ==, and a container's usual aliases."""
    kind, name = element.get("kind"), plain(element.find("name"))
    title = f"{scope}::{name}" if scope else name
    if element.get("prot") != "public" or "detail::" in title:
        return None
    if not in_class and element.get("static") == "yes":
        return None  # each program's own
    if kind == "enum":
        return enum(element, title)
    if kind == "variable":
        return entity("field" if in_class else kind, title, element, declarations.variable(element))
    if kind == "typedef":
        return entity(kind, title, element, declarations.alias(element)) if text_of(element) or not in_class else None
    if kind == "define":
        return entity(kind, title, element, declarations.macro(element)) if text_of(element) else None
    if kind not in ("function", "friend") or declarations.goes_without_saying(element, scope):
        return None
    return entity("function", title, element, declarations.function(element))


def compound(element: ET.Element) -> Entity | None:
    title = plain(element.find("compoundname")).removeprefix(NAMESPACE)
    if element.get("prot", "public") != "public" or "detail::" in title or "<" in title:
        return None
    made = entity(element.get("kind"), title, element, declarations.compound(element, title))
    found = [member(each, title, in_class=True) for each in element.iter("memberdef")]
    made.members = sorted((each for each in found if each is not None), key=lambda each: each.line)
    return made


def entities(headers: dict[str, Path], scratch: Path) -> list[Entity]:
    """What C and C++ headers declare."""
    found = []
    seen = set()
    # A file lists what its namespaces have, too, without their names: these first.
    for element in sorted(compounds(headers, scratch), key=lambda each: each.get("kind") == "file"):
        kind, name = element.get("kind"), plain(element.find("compoundname"))
        if kind in COMPOUNDS:
            found.append(compound(element))
        elif kind == "file" or name.startswith("nodewise"):
            scope = "" if kind == "file" else name.removeprefix("nodewise").removeprefix("::")
            for each in element.iter("memberdef"):
                if each.get("id") not in seen:
                    seen.add(each.get("id"))
                    found.append(member(each, scope, in_class=False))
    return [each for each in found if each is not None]


def headers(root: Path, scratch: Path) -> list[Header]:
    """The public headers and what they declare, by name."""
    public = public_headers(root)
    made = {}
    for name, path in public.items():
        text = path.read_text()
        made[name] = Header(name, path.relative_to(root).as_posix(), *opening(text))
        made[name].includes = re.findall(r"^#include <(nodewise/.*?)>", text, re.MULTILINE)
    in_fortran = {name: path for name, path in public.items() if path.suffix == ".f90"}
    others = {name: path for name, path in public.items() if name not in in_fortran}
    found = entities(others, scratch / "c++")
    found += fortran.entities(in_fortran, compounds(in_fortran, scratch / "fortran"))
    for each in found:
        made[each.header].entities.append(each)
    for header in made.values():
        header.entities.sort(key=lambda each: each.line)
    return list(made.values())
