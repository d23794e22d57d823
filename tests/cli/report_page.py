# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A page of `nodewise report` as its reader sees it, and what holds of every page."""

import html.parser
import json
import tempfile
from pathlib import Path

from command import CommandTest, nodewise

HOSTILE = "</title><script>alert(1)</script>\"'&\x1b[2J\u202e\n"
WORD = "span of a word"
VOID = {"meta", "rect", "path", "circle", "br", "line"}


class Page(html.parser.HTMLParser):
    """What a reader sees: texts by element, the rows of tables by their caption."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.texts, self.tables, self.scripts = [], [], {}, {}, 0
        self.caption = self.row = None
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attributes):
        self.ids += [value for name, value in attributes if name == "id"]
        self.scripts += tag == "script" and not any(name == "type" for name, _ in attributes)
        if tag == "table":
            self.caption = ""
        if tag == "tr":
            self.row = []
        if tag in ("td", "th"):
            self.row.append("")
        if ("class", "word") in attributes:  # a part of the text around it
            self.open.append(WORD)
        elif tag not in VOID:
            self.open.append(tag)
            self.texts.setdefault(tag, []).append("")

    def handle_startendtag(self, tag, attributes):
        pass

    def handle_endtag(self, tag):
        assert self.open.pop() in (tag, WORD), tag
        if tag == "tr":
            self.tables.setdefault(self.caption, []).append(self.row)

    def handle_data(self, data):
        if not self.open:
            return
        self.texts[next(each for each in reversed(self.open) if each != WORD)][-1] += data
        if "caption" in self.open:
            self.caption += data
        if "td" in self.open or "th" in self.open:
            self.row[-1] += data

    def column(self, caption, title):
        head, *rows = self.tables[caption]
        return [row[head.index(title)] for row in rows]

    @property
    def verdict(self):
        return next(text for text in self.texts["p"] if text)


def figure(value):
    return f"{value:.4g}"


class ReportTest(CommandTest):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)

    def write(self, document, name="result.json"):
        file = self.folder / name
        file.write_text(document if isinstance(document, str) else json.dumps(document))
        return str(file)

    def page_of(self, *documents):
        files = [self.write(each, f"{i}.json") for i, each in enumerate(documents)]
        out = self.folder / "page.html"
        self.expect(0, "report", "--quiet", *files, "-o", str(out))
        page = Page(out.read_text())
        self.assertEqual(page.open, [])
        self.assertEqual(len(page.ids), len(set(page.ids)), "ids are unique")
        return page

    def refused(self, document, *words):
        """Refused as input, with these words in the message."""
        done = self.expect(3, "report", "--quiet", self.write(document), "-o", str(self.folder / "none.html"))
        self.assertFalse((self.folder / "none.html").exists())
        for word in ("result.json", *words):
            self.assertIn(word, done.stderr)

    def check_damage(self, document):
        """No damage crashes: cut files, and each field missing or of another type."""
        whole = json.dumps(document)
        for part in range(1, 8):
            self.refused(whole[: len(whole) * part // 8])
        for key in document:
            if key not in ("schema", "nodewise", "settings"):
                for other in (None, 17, {"a": []}, HOSTILE):
                    done = nodewise("report", "--quiet", self.write(document | {key: other}), "-o", str(self.folder / "d.html"))
                    self.assertIn(done.returncode, (0, 3), f"{key} = {other!r}: {done.stderr}")

    def check_hostile(self, document):
        """All texts of a file replaced, except those that have few values."""
        page = self.page_of(document)
        # Without the script of the page itself, if the build has it; the data before it belong to the texts.
        text = (self.folder / "page.html").read_text().split("<script>/*!")[0]
        self.assertNotIn("<script>alert", text)
        self.assertNotIn("\x1b", text)
        self.assertEqual([text[i - 80 : i] for i, each in enumerate(text) if each == "\u202e"], [])
        self.assertLessEqual(page.scripts, 2)  # its data and its own
        self.assertIn("alert(1)", text)
