# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Declarations in C and C++ as headers write them, from Doxygen's XML of their parts."""

import re
import xml.etree.ElementTree as ET

# Words that Doxygen leaves in types or tells as attributes, by version.
SHOWN = ("static", "explicit", "constexpr")
HIDDEN = ("inline", "friend", "virtual", "[[nodiscard]]", "[[noreturn]]")
LINE = 96


def plain(element: ET.Element | None) -> str:
    return "" if element is None else "".join(element.itertext()).strip()


def text_of(element: ET.Element) -> list[ET.Element]:
    """The paragraphs of a docstring."""
    parts = (element.find("briefdescription"), element.find("detaileddescription"))
    return [para for part in parts if part is not None for para in part.findall("para") if plain(para)]


def place_of(element: ET.Element) -> tuple[str, int]:
    """The header and the line."""
    at = element.find("location")
    return at.get("file"), int(at.get("line"))


def spaced(code: str) -> str:
    """Code with blanks where this project has them."""
    code = re.sub(r"\s+", " ", code).strip()
    code = re.sub(r"(?<=[<(]) | (?=[>),<(&*])", "", code)
    return code


def parameter(param: ET.Element) -> str:
    name = plain(param.find("declname"))
    default = spaced(plain(param.find("defval")))
    words = spaced(plain(param.find("type"))) + (f" {name}" if name else "") + plain(param.find("array"))
    return words + (f" = {default}" if default else "")


def template_line(element: ET.Element) -> str:
    params = element.find("templateparamlist")
    return "" if params is None else f"template <{', '.join(map(parameter, params))}>\n"


def folded(head: str, arguments: list[str], tail: str) -> str:
    """A declaration, its arguments in lines of their own where one line is too short for them."""
    line = f"{head}({', '.join(arguments)}){tail}"
    if len(line) <= LINE or not arguments:
        return line
    return f"{head}(\n    " + ",\n    ".join(arguments) + f"){tail}"


def behind_arguments(text: str) -> str:
    """What follows a function's arguments: const, noexcept; not that it is defaulted."""
    depth = 0
    for k, letter in enumerate(text):
        depth += (letter == "(") - (letter == ")")
        if letter == ")" and depth == 0:
            return re.sub(r"\s*=\s*\w+$", "", text[k + 1 :]).strip()
    return ""


def function(element: ET.Element) -> str:
    words = spaced(plain(element.find("type"))).split()
    shown = [word for word in SHOWN if word in words or element.get(word) == "yes"]
    rest = [word for word in words if word not in (*SHOWN, *HIDDEN)]
    tail = behind_arguments(plain(element.find("argsstring")))
    arguments = [parameter(each) for each in element.findall("param")]
    head = " ".join([*shown, *rest, plain(element.find("name"))])
    return template_line(element) + folded(head, arguments, f" {tail}" if tail else "") + ";"


def goes_without_saying(element: ET.Element, scope: str) -> bool:
    """Whether a class's own text says it: destructors, copies and moves, ==, deduction guides, what is deleted."""
    name, arguments = plain(element.find("name")), plain(element.find("argsstring"))
    if name.startswith("~") or name == "operator==" or re.search(r"=\s*delete$|->", arguments):
        return True
    own = scope.rpartition("::")[2]
    if "class" in plain(element.find("type")).split():
        return True  # a friend
    taken = [spaced(plain(each.find("type"))) for each in element.findall("param")]
    same = element.find("templateparamlist") is None and taken in ([f"{own}&&"], [f"const {own}&"])
    return same and name in (own, "operator=")


def value(element: ET.Element) -> str:
    """A value of an enumeration."""
    return " ".join(filter(None, (plain(element.find("name")), plain(element.find("initializer")))))


def variable(element: ET.Element) -> str:
    words = [word for word in spaced(plain(element.find("type"))).split() if word not in HIDDEN]
    start = plain(element.find("initializer"))
    if start and not start.startswith(("=", "{")):
        start = "= " + start
    name = plain(element.find("name")) + plain(element.find("argsstring"))
    return " ".join([*words, name]) + (f" {start}" if start.startswith("=") else start)


def alias(element: ET.Element) -> str:
    name, meant = plain(element.find("name")), spaced(plain(element.find("type")))
    if plain(element.find("definition")).startswith("typedef"):
        return f"typedef {meant} {name};"
    return f"{template_line(element)}using {name} = {meant};"


def macro(element: ET.Element) -> str:
    taken = [plain(each.find("defname")) for each in element.findall("param")]
    called = f"({', '.join(taken)})" if element.find("param") is not None else ""
    return f"#define {plain(element.find('name'))}{called}"


def enum(element: ET.Element) -> str:
    strong = "enum class" if element.get("strong") == "yes" else "enum"
    under = plain(element.find("type"))
    return f"{strong} {plain(element.find('name'))}{f' : {under}' if under else ''};"


def compound(element: ET.Element, name: str) -> str:
    bases = [f"{each.get('prot')} {spaced(plain(each))}" for each in element.findall("basecompoundref")]
    inherits = f" : {', '.join(bases)}" if bases else ""
    requires = plain(element.find("initializer")).partition("=")[2].strip()  # of a concept
    body = f" = {requires}" if requires else ""
    return f"{template_line(element)}{element.get('kind')} {name}{inherits}{body};"
