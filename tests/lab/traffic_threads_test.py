# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Which thread used which page, and by which instruction: the counts file itself, as docs/formats.md has
it, against what the schedules of the loops say."""

import os
import subprocess
import unittest
from collections import Counter, defaultdict

import lab
from traffic_counts import FIRST_TOUCH, NODEWISE, PROGRAMS

THREADS = 8
PAGES = 2048  # of an array of 8 MiB, in all programs here
LINES_A_PAGE = 64


class Pages:
    """Of one object: what the `users` and `touched` records say of each page."""

    def __init__(self) -> None:
        self.users: dict[int, Counter[int]] = defaultdict(Counter)
        self.first: dict[int, int] = {}
        self.lines: Counter[tuple[str, str]] = Counter()  # by thread, and node of memory

    def add_users(self, first: str, count: str, to: str, users: list[str]) -> None:
        for user in users:
            thread, lines = map(int, user.split(":"))
            self.lines[thread, to] += lines
            for page in range(int(first, 0), int(first, 0) + int(count)):
                self.users[page][thread] += lines // int(count)

    def most(self, page: int) -> int:
        return self.users[page].most_common(1)[0][0]


class Threads(lab.LabTest):
    def count(self, *command: object) -> None:
        file = self.directory / "counts.txt"
        done = subprocess.run(
            lab.runner("run", "--machine", lab.FOUR_NODES, "--count", file, "--count-when-told", "--",
                       NODEWISE, "run", "--bind", "close", "--", *command),
            capture_output=True, text=True, cwd=self.directory, timeout=900, check=False,
            env=os.environ | {"OMP_NUM_THREADS": str(THREADS)}, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.records = [line.split(" ") for line in file.read_text().splitlines()]
        self.pages: dict[tuple[str, str], Pages] = defaultdict(Pages)
        for _, pid, number, first, count, to, *users in self.of("users"):
            self.pages[pid, number].add_users(first, count, to, users)
        for _, pid, number, first, count, thread in self.of("touched"):
            for page in range(int(count)):
                self.pages[pid, number].first[int(first, 0) + page] = int(thread)

        self.assert_each_is_a_thread_of_its_program()

    def assert_each_is_a_thread_of_its_program(self) -> None:
        threads = Counter(pid for _, pid, *_ in self.of("thread"))
        for (pid, _), pages in self.pages.items():
            named = {thread for thread, _ in pages.lines} | set(pages.first.values())
            self.assertLess(max(named), threads[pid], pid)

    def of(self, kind: str) -> list[list[str]]:
        return [record for record in self.records if record[0] == kind]

    def arrays(self) -> list[Pages]:
        return [self.pages[pid, number] for _, pid, number, *_ in self.of("object")]

    def assert_same_as_traffic(self) -> None:
        """Of every object of every program, and of the memory that no object covers."""
        traffic: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for _, pid, number, phase, _, to, fills, _, streams in self.of("traffic"):
            if phase == "use" and int(fills) + int(streams) > 0:
                traffic[pid, number][to] += int(fills) + int(streams)
        users: dict[tuple[str, str], Counter[str]] = defaultdict(Counter)
        for key, pages in self.pages.items():
            for (_, to), lines in pages.lines.items():
                users[key][to] += lines
        self.assertEqual(users, traffic)
        self.assertGreater(sum(sum(c.values()) for c in traffic.values()), PAGES * LINES_A_PAGE)

    def assert_threads_are_told(self) -> None:
        (pid,) = {record[1] for record in self.of("object")}
        threads = [record[2:] for record in self.of("thread") if record[1] == pid]
        self.assertEqual([int(index) for index, _ in threads], list(range(THREADS)))
        self.assertEqual(threads[0][1], pid, "the main thread's number is the process's")
        told = [tid for _, tid in threads if tid != "-"]
        self.assertEqual(len(told), len(set(told)))

    def test_a_blocked_sweep_has_one_user_a_page(self) -> None:
        self.count(FIRST_TOUCH / "first-touch", 8, 3)
        self.assert_same_as_traffic()
        self.assert_threads_are_told()
        arrays = self.arrays()
        self.assertEqual(len(arrays), 3)
        block = PAGES // THREADS
        owners = [arrays[0].most(block * thread) for thread in range(THREADS)]
        self.assertEqual(owners[0], 0)
        self.assertEqual(set(owners), set(range(THREADS)))
        for array in arrays:
            self.assertEqual(set(array.first.values()), {0}, "the first thread filled all of it")
            self.assertEqual(set(array.first), set(range(PAGES)))
            for page in range(PAGES - 1):  # of the last one, the program prints the end
                self.assertEqual(set(array.users[page]), {owners[page // block]}, page)

    def test_a_cured_program_has_its_users_touch_first(self) -> None:
        self.count(FIRST_TOUCH / "first-touch-cured", 8, 3)
        self.assert_same_as_traffic()
        for array in self.arrays():
            same = sum(array.first[page] == array.most(page) for page in array.users)
            self.assertGreater(len(array.users), 0.99 * PAGES)
            self.assertGreater(same, 0.99 * len(array.users))

    def test_pieces_in_turn_have_all_threads_on_every_page(self) -> None:
        self.count(PROGRAMS / "shared", "turn", 4)
        self.assert_same_as_traffic()
        (array,) = self.arrays()
        for page in range(PAGES):
            self.assertEqual(set(array.users[page]), set(range(THREADS)), page)

    def test_a_dynamic_schedule_has_several_users_a_page(self) -> None:
        self.count(PROGRAMS / "shared", "dynamic", 4)
        self.assert_same_as_traffic()
        (array,) = self.arrays()
        several = sum(len(users) > 1 for users in array.users.values())
        self.assertGreater(several, 0.5 * PAGES)

    def test_an_array_is_used_by_the_instruction_of_its_loop(self) -> None:
        self.count(PROGRAMS / "shared", "turn", 4)
        ((_, pid, number, *_),) = self.of("object")
        used = [int(lines) for _, p, n, _, lines in self.of("codeuse") if (p, n) == (pid, number)]
        self.assertEqual(used, sorted(used, reverse=True))
        self.assertGreater(used[0], 0.99 * sum(self.pages[pid, number].lines.values()))


if __name__ == "__main__":
    unittest.main()
