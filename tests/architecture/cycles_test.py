# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Inside the rooms: no file needs another that needs it, and no file is too long to read.

A .cpp and the .hpp of its name are one unit: what either includes, both need."""

import pathlib
import unittest

from rooms_test import INCLUDE, ROOT, resolve

FOLDERS = ("include", "src", "cli", "agent", "lab", "bench", "examples", "published")
MOST_LINES = 400


def sources(folders=FOLDERS):
    for folder in folders:
        for suffix in ("*.hpp", "*.cpp", "*.h", "*.c", "*.py", "*.F90", "*.f90"):
            yield from (path.relative_to(ROOT).as_posix() for path in (ROOT / folder).rglob(suffix))


def unit_of(path):
    return str(pathlib.PurePosixPath(path).with_suffix(""))


def needs_of_units():
    needs = {}
    for path in sources():
        found = needs.setdefault(unit_of(path), set())
        if not path.endswith((".py", "90")):
            targets = (resolve(path, name) for name in INCLUDE.findall((ROOT / path).read_text()))
            found |= {unit_of(target) for target in targets if target} - {unit_of(path)}
    return needs


def cycles(needs):
    """The units that are left when those without needs are taken away again and again, from both ends."""
    left = dict(needs)
    while True:
        needed = set().union(*left.values()) if left else set()
        free = {unit for unit, its in left.items() if not its & left.keys() or unit not in needed}
        if not free:
            return sorted(left)
        left = {unit: its - free for unit, its in left.items() if unit not in free}


class Units(unittest.TestCase):
    def test_a_cycle_is_found(self):
        self.assertEqual(cycles({"a": {"b"}, "b": {"c"}, "c": {"b", "d"}, "d": set()}), ["b", "c"])

    def test_no_two_units_need_each_other(self):
        needs = needs_of_units()
        self.assertGreater(sum(map(len, needs.values())), 1000, "the walk found too little: is the root right?")
        self.assertEqual(cycles(needs), [])

    def test_files_are_short_enough_to_read(self):
        paths = (path for path in sources((*FOLDERS, "tests")) if not path.startswith("tests/data/"))
        lines = {path: len((ROOT / path).read_text().splitlines()) for path in paths}
        self.assertEqual({path: count for path, count in lines.items() if count > MOST_LINES}, {})


if __name__ == "__main__":
    unittest.main()
