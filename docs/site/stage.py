# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Writes the folder from which the generator makes the site: all pages where they are in the repository, the files that
they link to, and a page for each linked folder that has none.

    stage.py FOLDER

So the same links lead through the repository, through an installed folder and through the site.
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGES = ("README.md", "CHANGELOG.md", "CONTRIBUTING.md", "docs/**/*.md", "examples/*.md", "published/*.md")
LINK = re.compile(r"\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
LANGUAGES = {
    ".c": "c", ".h": "c", ".cpp": "cpp", ".hpp": "cpp", ".f90": "fortran", ".py": "python", ".sh": "bash", ".txt": "cmake"
}  # fmt: skip


def tracked(folder: Path) -> list[Path]:
    """The files that git knows below a folder, or the file itself."""
    found = subprocess.run(["git", "ls-files", "--", folder], cwd=ROOT, capture_output=True, text=True, check=True)
    return [ROOT / name for name in found.stdout.splitlines()]


def linked(page: Path) -> list[Path]:
    """What a page links to in the repository; links in code are none."""
    text = re.sub(r"^```.*?^```|`[^`\n]*`", "", page.read_text(), flags=re.MULTILINE | re.DOTALL)
    targets = [match for match in LINK.findall(text) if "://" not in match]
    return [(page.parent / target).resolve() for target in targets]


def page_of_folder(folder: Path) -> str:
    """The sources of a folder, one below the other."""
    lines = [f"# {folder.relative_to(ROOT)}", ""]
    for path in tracked(folder):
        language = LANGUAGES.get(path.suffix)
        if language:
            lines += [f"## {path.relative_to(folder)}", "", f"```{language}", path.read_text().rstrip("\n"), "```", ""]
    return "\n".join(lines)


def stage(into: Path) -> None:
    shutil.rmtree(into, ignore_errors=True)
    pages = sorted({page for pattern in PAGES for page in ROOT.glob(pattern) if tracked(page)})
    targets = {target for page in pages for target in linked(page)}
    for path in [*pages, *(target for target in targets if target.is_file())]:
        to = into / path.relative_to(ROOT)
        to.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, to)
    for folder in (target for target in targets if target.is_dir()):
        to = into / folder.relative_to(ROOT) / "README.md"
        if not to.exists():
            to.parent.mkdir(parents=True, exist_ok=True)
            to.write_text(page_of_folder(folder))
    for target in sorted(targets):
        if not target.exists():
            raise SystemExit(f"stage.py: a page links to {target.relative_to(ROOT)}, which is not there")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("stage.py: name the folder, and nothing else")
    stage(Path(sys.argv[1]))
