# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Words that were replaced by plainer ones do not come back: in documentation, strings and comments; old identifiers
nowhere."""

import io
import re
import tokenize
import unittest
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CONTRIBUTING.md", "CHANGELOG.md", "docs/**/*.md", "examples/**/*.md", "lab/**/*.md")
GENERATED = "docs/reference/"
FOLDERS = ("src", "cli", "agent", "include", "lab", "examples")

# In text: what to write instead.
WORDS = {
    "tell": "report, show, print, distinguish",
    "tells": "reports, shows, prints",
    "told": "reported, shown, given",
    "whoever": "the thread, program or user that",
    "somebody": "another thread, program or user",
    "nobody": "no thread, no program, no user",
    "makes no sense": "is invalid",
    "make no sense": "are invalid",
    "is no size": "is not a size",
    "is no number": "is not a number",
    "of its own making": "that it allocated",
    "brings its own malloc": "overrides malloc",
    "some times faster": "several times faster",
    "every so many": "every SECONDS",
    "while they have any": "falling back to other nodes when full",
    "cure:": "hint:",
}
# In text and in code, as whole words.
IDENTIFIERS = {
    "roster": "thread_map",
    "tally": "loop_statistics, counts",
    "witness": "trace mode",
    "births": "allocation_log",
    "treatment": "candidate",
    "descent": "local_search",
    "interference_bytes": "cache_aligned_bytes",
    "sweep_view": "drop_cache_view",
}
# The old names of the library, which still work and give a warning.
OLD_NAMES = {"CHANGELOG.md", "include/nodewise/interference.hpp", "include/nodewise/roster.hpp"}
DEPRECATED = re.compile(r".*\[\[deprecated.*")

# Between the words of a phrase that is broken over lines of a comment or of a string.
GAP = r'[\s/*#!"]+'
LITERAL = r'"(?:\\.|[^"\\\n])*"'
C_TEXT = re.compile(
    r"//[^\n]*(?:\n\s*//[^\n]*)*|/\*.*?\*/"  # comments
    rf'|R"(?P<mark>\w*)\(.*?\)(?P=mark)"|{LITERAL}(?:\s*{LITERAL})*'
    r"|(?P<letter>(?<![0-9a-fA-F])'(?:\\[^'\n]+|[^'\\\n])')",
    re.DOTALL,
)
FORTRAN_TEXT = re.compile(rf"![^\n]*(?:\n\s*![^\n]*)*|{LITERAL}|'[^'\n]*'")


def pattern(words: dict[str, str]) -> re.Pattern:
    phrases = (GAP.join(map(re.escape, word.split())) for word in words)
    return re.compile(rf"(?<![\w-])(?:{'|'.join(phrases)})(?!\w)", re.IGNORECASE)


IN_TEXT = pattern(WORDS | IDENTIFIERS)
IN_CODE = pattern(IDENTIFIERS)


def python_texts(source: str) -> Iterator[tuple[int, str]]:
    for token in tokenize.generate_tokens(io.StringIO(source).readline):
        if tokenize.tok_name[token.type] in ("COMMENT", "STRING", "FSTRING_MIDDLE"):
            yield token.start[0], token.string


def texts(name: str, source: str) -> Iterator[tuple[int, str]]:
    """The comments and strings of a source file, each with its line."""
    if name.endswith(".py"):
        yield from python_texts(source)
        return
    fortran = name.lower().endswith(".f90")
    for found in (FORTRAN_TEXT if fortran else C_TEXT).finditer(source):
        if fortran or found["letter"] is None:
            yield source.count("\n", 0, found.start()) + 1, found[0]


def hits(name: str, source: str) -> list[str]:
    """file:line, the word and what to write instead, for each word that is found."""
    looked_at = [(1, source)] if name.endswith(".md") else list(texts(name, source))
    found = {}
    for words, parts in ((IN_TEXT, looked_at), (IN_CODE, [(1, source)])):
        for first, text in parts:
            for match in words.finditer(DEPRECATED.sub("", text)):
                word = re.sub(GAP, " ", match[0]).lower()
                line = first + text.count("\n", 0, match.start())
                found[line, word] = (WORDS | IDENTIFIERS)[word]
    return [f"{name}:{line}: {word!r}, write: {instead}" for (line, word), instead in sorted(found.items())
            if not (name in OLD_NAMES and word in IDENTIFIERS)]  # fmt: skip


def files() -> Iterator[Path]:
    for page in PAGES:
        yield from sorted(ROOT.glob(page))
    for folder in FOLDERS:
        for file in sorted((ROOT / folder).rglob("*")):
            if file.suffix.lower() in (".c", ".cpp", ".h", ".hpp", ".f90", ".py"):
                yield file


class Words(unittest.TestCase):
    def test_none_is_used(self):
        found, read = [], 0
        for file in files():
            name = file.relative_to(ROOT).as_posix()
            if not name.startswith(GENERATED):
                found += hits(name, file.read_text())
                read += 1
        self.assertGreater(read, 500)
        self.assertEqual(found, [], "\n" + "\n".join(found))


class Scanner(unittest.TestCase):
    def lines(self, name: str, source: str) -> list[str]:
        return [each.removeprefix(name + ":").partition(", write")[0] for each in hits(name, source)]

    def test_pages(self):
        page = "One is told.\nThis makes\nno sense.\n"
        self.assertEqual(self.lines("a.md", page), ["1: 'told'", "2: 'makes no sense'"])

    def test_comments_and_strings_but_not_code(self):
        source = "int told = 1'000; // told\nchar c = '\"'; f(\"a \\\"told\\\" b\");\n/* a\n   told */ int tells;\n"
        self.assertEqual(self.lines("a.cpp", source), ["1: 'told'", "2: 'told'", "4: 'told'"])
        self.assertEqual(self.lines("a.py", 'told = 1  # told\n"""a\nwhoever"""\n'), ["1: 'told'", "3: 'whoever'"])
        self.assertEqual(self.lines("a.f90", "told = 1 ! told\nprint *, 'somebody'\n"), ["1: 'told'", "2: 'somebody'"])

    def test_phrases_over_two_lines(self):
        self.assertEqual(self.lines("a.hpp", '// it makes\n  // no sense\nf("\'x\' is "\n  "no size");\n'),
                         ["1: 'makes no sense'", "3: 'is no size'"])  # fmt: skip

    def test_old_identifiers_in_code(self):
        self.assertEqual(self.lines("a.cpp", "roster a;\nint births_ = 0;\n"), ["1: 'roster'"])
        header = 'int roster;\nusing tally [[deprecated("use it")]] = b;\n'
        self.assertEqual(self.lines("a.hpp", header), ["1: 'roster'"])
        self.assertEqual(self.lines("CHANGELOG.md", "The roster is told.\n"), ["1: 'told'"])


if __name__ == "__main__":
    unittest.main()
