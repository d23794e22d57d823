# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise run --huge-pages`: what the kernel says about the memory of the started program."""

import json
import tempfile
import unittest
from pathlib import Path

from command import BUILD, COMMAND, CommandTest, conforms

FOLDER = Path("/sys/kernel/mm/transparent_hugepage")
PROGRAM = str(BUILD / "tests/agent/huge_pages")
ARRAYS = ("heap", "zeroed", "anonymous", "static")
OTHERS = ("data", "small", "file", "stack")


def mode():
    words = (FOLDER / "enabled").read_text() if (FOLDER / "enabled").exists() else "[never]"
    return words[words.index("[") + 1 : words.index("]")]


class HugePages(CommandTest):
    def reported(self, *options, command=PROGRAM):
        """What the program reads in its smaps: KiB in huge pages and flag of each kind of memory."""
        lines = self.expect(0, "run", *options, "--", command).stdout.splitlines()
        disabled, *rows = (line.split() for line in lines)
        return disabled[1], {name: (int(kib), flag) for name, kib, flag in rows}

    def check_requested(self, found):
        for name in (*ARRAYS, "grown", "remapped"):
            self.assertEqual(found[name][1], "hg", name)
        for name in OTHERS:
            self.assertNotEqual(found[name][1], "hg", name)

    @unittest.skipIf(mode() == "never", "this kernel gives no huge pages")
    def test_on_requests_them_for_large_arrays_only(self):
        for options in ((), ("--memory", "interleave"), ("--memory", "blocked", "--bind", "close", "--threads", "2"),
                        ("--rule", "size>=32M:bind:0"), ("--verify", "-q")):
            with self.subTest(options):
                disabled, found = self.reported("--huge-pages", "on", *options)
                self.assertEqual(disabled, "0")
                self.check_requested(found)

    @unittest.skipIf(mode() == "never", "this kernel gives no huge pages")
    def test_on_ends_an_inherited_off(self):
        line = ["run", "--huge-pages", "off", "--", COMMAND, "run", "--huge-pages", "on", "--", PROGRAM]
        self.assertTrue(self.expect(0, *line).stdout.startswith("disabled 0\n"))

    def test_off_holds_for_the_program_and_what_it_starts(self):
        for options in ((), ("--bind", "close"), ("--memory", "blocked", "--bind", "close")):
            with self.subTest(options):
                disabled, found = self.reported("--huge-pages", "off", *options)
                self.assertEqual(disabled, "1")
                self.assertEqual({kib for kib, _ in found.values()}, {0})
        done = self.expect(0, "run", "--huge-pages", "off", "--", "sh", "-c", "grep THP_enabled /proc/self/status; true")
        self.assertEqual(done.stdout.split(), ["THP_enabled:", "0"])

    def test_without_the_option_nothing_changes(self):
        disabled, found = self.reported("--bind", "close")
        self.assertEqual(disabled, "0")
        self.assertEqual({flag for _, flag in found.values()}, {"-"})

    def test_results_and_dry_run_name_it(self):
        off = self.expect(0, "run", "--huge-pages", "off", "--dry-run", "--", "true").stdout
        self.assertRegex(off, r"\A# .*prctl\(PR_SET_THP_DISABLE, 1\)\.\ntrue\n\Z")
        with tempfile.TemporaryDirectory() as folder:
            self.expect(0, "run", "--huge-pages", "off", "--json", "-o", f"{folder}/r.json", "--", "true")
            result = json.loads(Path(f"{folder}/r.json").read_text())
        self.assertIsNone(conforms(result, "run-1"))
        self.assertEqual(result["asked"]["memory"]["huge_pages"], "off")

    @unittest.skipIf(mode() == "never", "this kernel gives no huge pages")
    def test_a_static_program_is_a_warning_or_an_error(self):
        line = ("--huge-pages", "on", "--", COMMAND, "--version")
        self.assertIn("--huge-pages on: ", self.expect(0, "run", *line).stderr)
        self.expect(125, "run", "--strict", *line)

    def test_other_words_are_usage_errors(self):
        self.assertIn("on", self.expect(2, "run", "--huge-pages", "2M", "--", "true").stderr)


if __name__ == "__main__":
    unittest.main()
