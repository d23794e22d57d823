# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Writes two sources, header_examples.cpp and header_examples.c, from the examples of the public headers.

The second paragraph of the comment that a public header begins with is its example: lines that are indented by four
blanks. It is the body of a main(), below #include lines of the other headers of ours that it needs. The header itself
and headers of the standard library are included for it. A header without an example is an error.
"""

import argparse
import re
import sys
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "docs/generate"))
from interface import opening, public_headers  # noqa: E402

# The headers without an example, each with the reason.
WITHOUT = {
    "nodewise/export.hpp": "programs do not include it",
    "nodewise/interference.hpp": "an old name: it only includes another header",
    "nodewise/roster.hpp": "an old name: it only includes another header",
}
FEWEST_LINES, MOST_LINES = 3, 12
INCLUDE = re.compile(r"#include <(nodewise(?:/[\w/]+)?\.\w+)>")
STANDARD = ("algorithm atomic cstddef cstdio cstring filesystem functional map memory memory_resource numeric span "
            "string string_view thread vector").split()  # fmt: skip
STANDARD_C = ("stddef.h", "stdio.h", "string.h")

HEAD = "// Made by tests/docs/header_examples.py from the examples of the public headers.\n"
# What stands around an example; #line makes the compiler name the header and its line.
FUNCTION = """
{linkage}int {name}(void) {{
#line {line} "{path}"
{code}
  return 0;
}}
"""
MAIN = """
int main() {{
  int failed = 0;
  const auto run = [&failed](const char* header, int (*example)()) {{
    std::printf("\\n%s\\n", header);
    std::fflush(stdout);
    try {{
      if (example() == 0) {{
        return;
      }}
      std::fprintf(stderr, "%s: the example returned an error\\n", header);
    }} catch (const std::exception& error) {{
      std::fprintf(stderr, "%s: the example threw: %s\\n", header, error.what());
    }}
    ++failed;
  }};
{calls}
  return failed == 0 ? 0 : 1;
}}
"""


class ExampleError(Exception):
    """A header whose example is missing or unsuitable, and why."""


@dataclass
class Example:
    header: str  # as programs include it
    path: Path
    line: int  # of the first statement
    includes: list[str]  # headers of ours
    code: list[str]

    @property
    def function(self) -> str:
        return "example_" + re.sub(r"\W", "_", self.header)

    @property
    def is_c(self) -> bool:
        return self.header.endswith(".h")


def example_of(header: str, path: Path) -> Example | None:
    """The example of one header; None if it has none."""
    text = path.read_text()
    lines = opening(text)[1].split("\n")
    includes = [match[1] for line in lines if (match := INCLUDE.fullmatch(line))]
    code = [line for line in lines if not INCLUDE.fullmatch(line)]
    while code and not code[0]:
        code.pop(0)
    if not code:
        return None
    length = sum(1 for line in code if line)
    if not FEWEST_LINES <= length <= MOST_LINES:
        raise ExampleError(f"the example has {length} lines of code; write {FEWEST_LINES} to {MOST_LINES}")
    line = next(k for k, line in enumerate(text.split("\n"), 1) if line.endswith("    " + code[0]))
    return Example(header, path, line, includes, code)


def examples(root: Path) -> list[Example]:
    """The examples of all public headers in C and C++. Throws ExampleError that names each unsuitable header."""
    found, wrong = [], []
    for header, path in public_headers(root).items():
        if path.suffix == ".f90":
            continue
        name = path.relative_to(root).as_posix()
        try:
            example = example_of(header, path)
        except ExampleError as error:
            wrong.append(f"{name}: {error}")
            continue
        if example is None and header not in WITHOUT:
            wrong.append(f"{name}: no example: indent one by four blanks below the first paragraph of the first comment")
        elif example is not None and header in WITHOUT:
            wrong.append(f"{name}: it has an example: remove the header from WITHOUT in tests/docs/header_examples.py")
        elif example is not None:
            found.append(example)
    if wrong:
        raise ExampleError("\n".join(wrong))
    return found


def function(example: Example, linkage: str) -> str:
    code = "\n".join("  " + line if line else "" for line in example.code)
    return FUNCTION.format(linkage=linkage, name=example.function, line=example.line, path=example.path, code=code)


def includes(standard: tuple[str, ...] | list[str], of: list[Example]) -> str:
    ours = {header for example in of for header in (example.header, *example.includes)}
    return "".join(f"#include <{header}>\n" for header in (*standard, *sorted(ours)))


def c_source(of: list[Example]) -> str:
    declared = "".join(f"int {example.function}(void);\n" for example in of)
    return HEAD + includes(STANDARD_C, of) + "\n" + declared + "".join(function(example, "") for example in of)


def cpp_source(of: list[Example]) -> str:
    in_c = [example for example in of if example.is_c]
    in_cpp = [example for example in of if not example.is_c]
    declared = "".join(f'extern "C" int {example.function}(void);\n' for example in in_c)
    calls = "\n".join(f'  run("{example.header}", {example.function});' for example in of)
    functions = "".join(function(example, "static ") for example in in_cpp)
    return HEAD + includes(["exception", *STANDARD], in_cpp) + "\n" + declared + functions + MAIN.format(calls=calls)


def main() -> int:
    parser = argparse.ArgumentParser(description="Writes a program from the examples of the public headers.")
    parser.add_argument("--root", type=Path, default=ROOT, help="of the project")
    parser.add_argument("to", type=Path, help="the folder for header_examples.cpp and header_examples.c")
    asked = parser.parse_args()
    try:
        found = examples(asked.root)
    except ExampleError as wrong:
        print(wrong, file=sys.stderr)
        return 1
    asked.to.mkdir(parents=True, exist_ok=True)
    (asked.to / "header_examples.cpp").write_text(cpp_source(found))
    (asked.to / "header_examples.c").write_text(c_source([example for example in found if example.is_c]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
