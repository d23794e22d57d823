# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The plug-in for pytest: shares, errors and skipped tests. A runner that writes a recorded count stands in for the
virtual machine."""

import re
import subprocess
import sys
import textwrap
import unittest

from command import PATIENCE, ROOT, environment
from traffic_test import RUNNER, Counted

SELFTEST = """
import os, sys
if sys.argv[1] == "selftest":
    with open(os.environ["FAKE_SELFTESTS"], "a") as file:
        file.write("once\\n")
    status = int(os.environ.get("FAKE_SELFTEST", "0"))
    if status:
        print("nodewise: lab: cannot start QEMU: it is not installed", file=sys.stderr)
    sys.exit(status)
"""


class Plugin(Counted):
    def setUp(self):
        super().setUp()
        (self.folder / "nodewise/libexec/nodewise/lab/nodewise_lab").write_text(SELFTEST + RUNNER)
        self.selftests = self.folder / "selftests"

    def pytest(self, body, *options, counts="many-objects-2x2", lab=0, status=0):
        """Runs a file of tests: its output, and how many tests ended in which way."""
        tests = self.folder / "test_it.py"
        tests.write_text("import pytest\n" + textwrap.dedent(body))
        text = "" if counts is None else self.text_of(counts)
        words = [sys.executable, "-B", "-m", "pytest", "-p", "pytest_nodewise.plugin", "-p", "no:cacheprovider", "-rs",
                 "--strict-markers", f"--nodewise={self.command}", *options, tests.name]  # fmt: skip
        env = environment(
            PYTHONPATH=str(ROOT / "lab/pytest-nodewise"), FAKE_COUNTS=str(self.given(text)), FAKE_STATUS=str(status),
            FAKE_SELFTEST=str(lab), FAKE_SELFTESTS=str(self.selftests), FAKE_WORDS=str(self.words_file),
            PYTEST_DISABLE_PLUGIN_AUTOLOAD="1", PYTEST_ADDOPTS="", COLUMNS="200",
        )  # fmt: skip
        done = subprocess.run(
            words, cwd=self.folder, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False
        )
        counted = re.findall(r"(\d+) (passed|failed|skipped|errors?)\b", done.stdout)
        return done.stdout + done.stderr, {what: int(count) for count, what in counted}

    def passes(self, body, **options):
        said, ended = self.pytest(body, **options)
        self.assertEqual(ended, {"passed": 1}, said)

    def fails(self, body, *sentences, **options):
        said, ended = self.pytest(body, **options)
        self.assertEqual(ended, {"failed": 1}, said)
        for sentence in sentences:
            self.assertIn(sentence, said)


class Run(Plugin):
    def test_shares_of_arrays_and_of_all_traffic(self):
        self.passes("""
            def test(nodewise_lab):
                result = nodewise_lab("2x2").run(["./a", "1"], options=["--bind", "close"], timeout=60)
                assert result.remote("grid") == 0
                assert result.remote("rows+0x1234") == 0.5
                assert result.remote("unknown caller", phase="use") == 0
                # Lines of unknown nodes are not local.
                assert result.remote() == 51210 / 105482
                assert result.arrays() == {"rows+0x1234": 0.5, "grid": 0, "unknown caller": 0}
                assert result.stdout == "the program's own words\\n"
            """)
        words = self.words()
        self.assertEqual(words[words.index("--timeout") + 1], "60")
        self.assertEqual(words[-4:], ["--bind=close", "--", "./a", "1"])

    def test_shares_of_source_lines(self):
        self.passes(
            """
            def test(nodewise_lab):
                result = nodewise_lab("lab:4x2").run(["./a"])
                assert result.remote(line="triad+0x12c4") == 0.75
                assert list(result.lines()) == ["triad+0x12c4", "triad+0x12cc"]
                assert result.document["use"]["imbalance"] == 4
            """,
            counts="first-touch-4x2",
        )

    def test_a_failed_assertion_shows_the_shares(self):
        self.fails(
            """
            def test(nodewise_lab):
                assert nodewise_lab("2x2").run(["./a"]).remote("rows+0x1234") < 0.05
            """,
            "assert 0.5 < 0.05",
            "remote in use: {'rows+0x1234': '50.0%', 'grid': '0.0%'",
        )

    def test_what_cannot_be_judged_is_no_pass(self):
        body = "def test(nodewise_lab):\n    assert nodewise_lab('2x2').run(['./a']).remote({}) < 2\n"
        for arguments, *sentences in (
            ("'nothing'", "the program has no such array", "hint: these are known: rows+0x1234, grid"),
            ("'memory outside known arrays'", "the program has no such array"),
            ("line='a.c:3'", "the program has no such line", "hint: none is known; build the program with -g"),
            ("'grid', phase='init'", "the remote share of grid (phase: init): 0 cache lines are too few to judge"),
            ("'grid', line='a.c:3'", "it takes an array or a line, not both"),
            ("phase='end'", "write 'use', 'init' or 'all'"),
        ):
            with self.subTest(arguments):
                self.fails(body.format(arguments), *sentences)
        self.fails(body.format(""), "0 cache lines are too few to judge", counts="nothing-2x2")

    def test_a_command_that_fails_is_a_failure_with_what_it_printed(self):
        body = "def test(nodewise_lab):\n    nodewise_lab('2x2').run(['./a'])\n"
        for status in (1, 3, 125):
            with self.subTest(status):
                failed = f"./a on lab:2x2: it failed with status {status}"
                self.fails(body, failed, "the program's own words", status=status)
        self.fails(body, "it failed with status 124", status=124, counts=None)

    def test_a_machine_that_does_not_exist_is_a_failure(self):
        self.fails("def test(nodewise_lab):\n    nodewise_lab('4y2').run(['./a'])\n", 
                   "no machine of this name", "grids such as lab:4x2")  # fmt: skip

    def test_no_machine_is_a_failure(self):
        self.fails("def test(nodewise_lab):\n    nodewise_lab.run(['./a'])\n", 'add @pytest.mark.nodewise_lab("4x2")')


class Skipped(Plugin):
    MARKED = """
        @pytest.mark.nodewise_lab("2x2")
        def test_marked(nodewise_lab):
            assert nodewise_lab.run(["./a"]).remote("grid") == 0

        @pytest.mark.nodewise_lab("2x2")
        def test_marked_without_the_fixture():
            pass
        """
    REASON = "the lab cannot run 2x2: lab: cannot start QEMU: it is not installed"

    def test_marked_tests_run_where_the_lab_runs(self):
        said, ended = self.pytest(self.MARKED)
        self.assertEqual(ended, {"passed": 2}, said)
        self.assertEqual(self.selftests.read_text(), "once\n")

    def test_marked_tests_are_skipped_with_the_reason_elsewhere(self):
        said, ended = self.pytest(self.MARKED, lab=125)
        self.assertEqual(ended, {"skipped": 2}, said)
        self.assertIn(self.REASON, said)
        self.assertFalse(self.words_file.exists(), "nothing was started")

    def test_they_fail_if_the_lab_is_required(self):
        said, ended = self.pytest(self.MARKED, "--nodewise-lab-required", lab=125)
        self.assertEqual(ended, {"errors": 2}, said)
        self.assertIn(self.REASON, said)

    def test_the_fixture_alone_skips_too(self):
        body = "def test(nodewise_lab):\n    nodewise_lab('2x2').run(['./a'])\n"
        said, ended = self.pytest(body, lab=125, status=125, counts=None)
        self.assertEqual(ended, {"skipped": 1}, said)
        self.assertIn(self.REASON, said)

    def test_a_lab_that_can_run_and_failed_is_a_failure(self):
        self.fails("def test(nodewise_lab):\n    nodewise_lab('2x2').run(['./a'])\n", "it failed with status 125",
                   lab=0, status=125, counts=None)  # fmt: skip

    def test_without_the_command_tests_are_skipped(self):
        said, ended = self.pytest(self.MARKED, "--nodewise=/nonexistent/nodewise")
        self.assertEqual(ended, {"skipped": 2}, said)
        self.assertIn("the command /nonexistent/nodewise: No such file or directory", said)

    def test_a_wrong_marker_is_an_error_and_not_skipped(self):
        one = "it takes one machine"
        for marker, sentence in (('"4y2"', "the machine 4y2"), ("", one), ("4", one)):
            with self.subTest(marker):
                said, ended = self.pytest(f"@pytest.mark.nodewise_lab({marker})\ndef test():\n    pass\n", lab=125)
                self.assertEqual(ended, {"error": 1}, said)
                self.assertIn(sentence, said)


if __name__ == "__main__":
    unittest.main()
