# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The reference as Markdown: a page for each header, and an index."""

import re
import textwrap
import xml.etree.ElementTree as ET
from itertools import groupby

from interface import DocsError, Entity, Header, page_of

WIDTH = 118
# A name that something else follows is a type; one that is itself declared is not.
TYPE = re.compile(r"\b[A-Za-z_]\w*(?:::[A-Za-z_]\w*)*(?=[&*<>]|\.\.\.| \w)")
INLINE = {"bold": "**", "emphasis": "*"}
LETTERS = {"ndash": "--", "mdash": "---", "nonbreakablespace": " ", "sp": " ", "linebreak": "\n"}
# A line that begins so would be a list or a heading where it is wrapped.
STARTS_SOMETHING = re.compile(r"(?:[-+*#>|]|\d+[.)])\s")


def anchor(title: str) -> str:
    """What a heading is called in links, as GitHub makes it."""
    return re.sub(r"[^\w\- ]", "", title.lower()).replace(" ", "-")


class Names:
    """Where everything of one language is described."""

    def __init__(self, headers: list[Header]):
        self.places: dict[str, tuple[str, str]] = {}
        self.types: set[str] = set()
        for header in headers:
            for entity in header.entities:
                self._add(header, entity)

    def _add(self, header: Header, entity: Entity) -> None:
        place = (header.page, anchor(entity.title))
        if entity.kind in ("field", "value"):
            return
        self.places.setdefault(entity.title, place)
        if entity.kind in ("class", "struct", "concept", "enum", "typedef"):
            self.types.add(entity.title)
        for member in entity.members:
            self._add(header, member)

    def link(self, text: str, page: str, inside: str) -> str | None:
        """The address of what a text in code names, seen from a page; None where it names nothing of ours,
        or what is being described."""
        name = text.removesuffix("()").removeprefix("nodewise::")
        own = inside if inside in self.types else inside.rpartition("::")[0]
        for title in (f"{own}::{name}", name) if text.endswith("()") else (name,):
            if title in self.places and title != inside:
                return self.address(title, page)
        return None

    def address(self, title: str, page: str) -> str:
        where, heading = self.places[title]
        return f"#{heading}" if where == page else f"{where}#{heading}"


class Writer:
    """Paragraphs of XML as Markdown, for one page."""

    def __init__(self, names: Names, page: str):
        self.names = names
        self.page = page
        self.inside = ""

    def code(self, text: str) -> str:
        address = self.names.link(text, self.page, self.inside)
        return f"[`{text}`]({address})" if address else f"`{text}`"

    def inline(self, element: ET.Element) -> str:
        parts = [escaped(element.text)]
        for child in element:
            if child.tag == "computeroutput":
                parts.append(self.code("".join(child.itertext())))
            elif child.tag in INLINE:
                parts.append(INLINE[child.tag] + self.inline(child) + INLINE[child.tag])
            elif child.tag in LETTERS:
                parts.append(LETTERS[child.tag])
            elif child.tag == "ref":
                parts.append(self.inline(child))
            else:
                raise DocsError(f"{self.page}: {self.inside}: <{child.tag}> in a docstring is not understood")
            parts.append(escaped(child.tail))
        return "".join(parts)

    def paragraph(self, para: ET.Element) -> list[str]:
        """A paragraph and the lists in it."""
        blocks: list[str] = []
        rest = ET.Element("para")
        rest.text = para.text
        for child in para:
            if child.tag in ("itemizedlist", "orderedlist"):
                blocks += self._wrapped(rest)
                blocks.append("\n".join(self._item(item) for item in child))
                rest = ET.Element("para")
                rest.text = child.tail
            else:
                rest.append(child)
        return blocks + self._wrapped(rest)

    def _item(self, item: ET.Element) -> str:
        text = " ".join(self.inline(para) for para in item)
        return wrapped(text, "- ", "  ")

    def _wrapped(self, para: ET.Element) -> list[str]:
        text = self.inline(para)
        return [wrapped(text)] if text.strip() else []

    def text(self, entity: Entity) -> str:
        return "\n\n".join(block for para in entity.text for block in self.paragraph(para))

    def line(self, entity: Entity) -> str:
        """All of it in one line, for a cell of a table."""
        return " ".join(self.text(entity).split()).replace("|", "\\|")


def escaped(text: str | None) -> str:
    return (text or "").replace("&", "&amp;").replace("<", "&lt;")


def wrapped(text: str, first: str = "", others: str = "") -> str:
    lines = textwrap.wrap(" ".join(text.split()), WIDTH, initial_indent=first, subsequent_indent=others,
                          break_long_words=False, break_on_hyphens=False)  # fmt: skip
    if any(STARTS_SOMETHING.match(line.strip()) for line in lines[1:]):
        return first + " ".join(text.split())
    return "\n".join(lines)


def first_sentence(text: str) -> str:
    """Of the first paragraph; "e.g." and numbers end none."""
    return re.split(r"(?<=[^.\d]\.)(?<!e\.g\.)\s", " ".join(text.partition("\n\n")[0].split()), maxsplit=1)[0]


def linked(purpose: str) -> str:
    """A header's opening comment with links where it names pages."""
    purpose = re.sub(r"<(nodewise/[\w/.]+)>", lambda name: f"[{name[1]}]({page_of(name[1])})", purpose)
    return re.sub(r"docs/([\w-]+\.md)", r"[docs/\1](../\1)", purpose)


class Page:
    """The page of one header."""

    def __init__(self, header: Header, names: Names):
        self.header = header
        self.names = names
        self.writer = Writer(names, header.page)

    def markdown(self) -> str:
        header = self.header
        source = "../../" + header.source
        parts = [
            f"# {header.name}",
            f"<!-- Made by `make reference` from {header.source}: change that one. -->",
            linked(header.purpose),
            f"```{header.language}\n{header.example}\n```" if header.example else "",
            linked(header.details),
            f"[The header]({source}), [all headers](README.md)",
        ]
        parts += self._contents()
        for title, entities in by_title(header.entities):
            parts += self._section("##", title, entities)
        if not header.entities:
            parts += self._includes()
        return "\n\n".join(part for part in parts if part) + "\n"

    def _contents(self) -> list[str]:
        rows = []
        for title, entities in by_title(self.header.entities):
            self.writer.inside = title
            rows.append(f"| [`{title}`](#{anchor(title)}) | {first_sentence(self.writer.line(entities[0]))} |")
        return ["| | |\n|---|---|\n" + "\n".join(rows)] if rows else []

    def _includes(self) -> list[str]:
        lines = [f"- [{name}]({page_of(name)})" for name in self.header.includes]
        return ["It includes", "\n".join(lines)] if lines else []

    def _section(self, mark: str, title: str, entities: list[Entity]) -> list[str]:
        """What has one title: overloads with their own texts, then members."""
        parts = [f"{mark} {title}"]
        for told in told_together(entities):
            code = "\n".join(each.declaration for each in told)
            self.writer.inside = title
            parts += [f"```{self.header.language}\n{code}\n```", self.writer.text(told[0])]
        for entity in entities:
            parts += self._members(mark, entity)
        return parts + (self._types(entities) if mark == "##" else [])

    def _members(self, mark: str, entity: Entity) -> list[str]:
        parts = []
        rows = [m for m in entity.members if m.kind in ("field", "value")]
        if rows:
            self.writer.inside = entity.title
            lines = [f"| `{row.declaration}` | {self.writer.line(row)} |" for row in rows]
            parts.append("| | |\n|---|---|\n" + "\n".join(lines))
        others = [m for m in entity.members if m.kind not in ("field", "value")]
        for title, members in by_title(others):
            parts += self._section(mark + "#", title, members)
        return parts

    def _types(self, entities: list[Entity]) -> list[str]:
        """Links to the types of other pages that declarations name."""
        found = {}
        for code in declarations(entities):
            for word in TYPE.findall(code):
                name = word.removeprefix("nodewise::")
                if name in self.names.types and self.names.places[name][0] != self.header.page:
                    found[name] = self.names.address(name, self.header.page)
        links = ", ".join(f"[`{name}`]({address})" for name, address in sorted(found.items()))
        return [f"Types: {links}"] if links else []


def declarations(entities: list[Entity]) -> list[str]:
    return [code for each in entities for code in (each.declaration, *declarations(each.members))]


def by_title(entities: list[Entity]) -> list[tuple[str, list[Entity]]]:
    """Entities with one title together, where the first of them is."""
    found: dict[str, list[Entity]] = {}
    for entity in entities:
        found.setdefault(entity.title, []).append(entity)
    return list(found.items())


def told_together(entities: list[Entity]) -> list[list[Entity]]:
    """An overload without a text has that of the one before it."""
    runs: list[list[Entity]] = []
    for entity in entities:
        if entity.text or not runs:
            runs.append([])
        runs[-1].append(entity)
    return runs


def index(headers: list[Header]) -> str:
    parts = ["# Reference", "<!-- Made by `make reference` from include/. -->"]
    parts.append(
        "Every public header and all that it declares, as the header says it: units, errors, the source of methods. "
        "How it is\nused together is in [library.md](../library.md)."
    )
    for language, title in (("cpp", "C++"), ("c", "C"), ("fortran", "Fortran")):
        rows = [
            f"| [{header.name}]({header.page}) | {first_sentence(linked(header.purpose))} |"
            for header in headers
            if header.language == language
        ]
        parts += [f"## {title}", "| header | |\n|---|---|\n" + "\n".join(rows)]
    return "\n\n".join(parts) + "\n"


def pages(headers: list[Header]) -> dict[str, str]:
    """The text of each page by its name."""
    names = {each: Names([h for h in headers if h.language == each]) for each in ("cpp", "c", "fortran")}
    made = {header.page: Page(header, names[header.language]).markdown() for header in headers}
    for page, text in made.items():
        titles = re.findall(r"^##+ ((?:(?!operator\W).)*)$", text, re.MULTILINE)  # no text names an operator
        twice = [title for title, group in groupby(sorted(map(anchor, titles))) if len(list(group)) > 1]
        if twice:
            raise DocsError(f"{page}: more than one heading with the anchors {', '.join(twice)}")
    return {"README.md": index(headers), **made}
