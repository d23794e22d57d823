# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Fails if a page of the site refers to a page, a file or a heading that is not in it.

    check.py FOLDER
"""

import html.parser
import sys
import urllib.parse
from pathlib import Path


class Page(html.parser.HTMLParser):
    """What a page refers to, and what one can refer to in it."""

    def __init__(self, path: Path):
        super().__init__()
        self.path = path
        self.references: list[str] = []
        self.anchors: set[str] = {""}
        self.feed(path.read_text())

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in ("href", "src") and value:
                self.references.append(value)


def broken(page: Page, pages: dict[Path, Page]) -> list[str]:
    found = []
    for reference in page.references:
        parts = urllib.parse.urlsplit(reference)
        if parts.scheme or parts.netloc or parts.path.startswith("/"):
            continue
        target = (page.path.parent / urllib.parse.unquote(parts.path)).resolve() if parts.path else page.path
        target = target / "index.html" if target.is_dir() else target
        if not target.is_file():
            found.append(f"{reference}: there is no such file")
        elif target in pages and urllib.parse.unquote(parts.fragment) not in pages[target].anchors:
            found.append(f"{reference}: the page has no such heading")
    return found


def main() -> int:
    folder = Path(sys.argv[1]).resolve()
    pages = {path: Page(path) for path in sorted(folder.rglob("*.html")) if path.name != "404.html"}
    if len(pages) < 50:
        print(f"check.py: {len(pages)} pages in {folder}: the site is incomplete", file=sys.stderr)
        return 1
    problems = [
        f"{path.relative_to(folder)}: {problem}" for path, page in pages.items() for problem in broken(page, pages)
    ]
    for problem in problems:
        print(f"check.py: {problem}", file=sys.stderr)
    print(f"{len(pages)} pages, {sum(len(page.references) for page in pages.values())} references")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
