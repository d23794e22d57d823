# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The best that any static placement could do for a program, by a profile of it with exact counts:
each page on the node that asked most for its lines.
"""

import json
from collections import defaultdict
from pathlib import Path

Key = tuple[int, int]  # an object's number, a page


class Uses:
    """Of one run: the lines that the processors of each node asked for, page by page."""

    def __init__(self, profile: Path) -> None:
        self.pages: dict[Key, dict[int, float]] = defaultdict(lambda: defaultdict(float))
        programs = json.loads(profile.read_text())["programs"]
        largest = max(programs, key=lambda program: sum(each["bytes"] for each in program["objects"]))
        homes = [home_of(thread) for thread in largest["threads"]]
        for thing in largest["objects"]:
            for run in thing.get("uses", []):
                self.add(thing["id"], run, homes)

    def add(self, thing: int, run: str, homes: list[int | None]) -> None:
        """ "FIRST+COUNT THREAD:LINES,...": of all these pages together."""
        pages, users = run.split()
        first, count = map(int, pages.split("+"))
        for user in users.split(","):
            thread, lines = user.split(":")
            for page in range(first, first + count):
                self.pages[thing, page][homes[int(thread)]] += float(lines) / count

    def best_map(self) -> dict[Key, int]:
        return {key: max(by_node, key=by_node.get) for key, by_node in self.pages.items()}

    def remote(self, placed: dict[Key, int]) -> float:
        """With pages placed so; those that the map has not are counted as at their best."""
        local = total = 0.0
        for key, by_node in self.pages.items():
            total += sum(by_node.values())
            local += by_node.get(placed[key], 0) if key in placed else max(by_node.values())
        return 1 - local / total if total else 0.0


def home_of(thread: dict) -> int | None:
    stays = thread.get("stays", [])
    return max(stays, key=lambda stay: stay["samples"])["node"] if stays else None
