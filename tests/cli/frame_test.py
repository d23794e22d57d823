# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The frame that all verbs share: help, errors, exit codes, colours, closed streams."""

import os
import select
import subprocess
import unittest

from command import BUILD, PATIENCE, CommandTest, nodewise

VERBS = ("topo", "run", "measure", "drop-cache", "warm", "profile", "report", "tune", "survey", "pages", "model", "doctor", "lab", "help")


class Help(CommandTest):
    def test_the_command_names_every_verb_and_every_exit_code(self):
        text = self.expect(0, "--help").stdout
        for word in (*VERBS, "124", "126", "127", "128+N"):
            self.assertIn(word, text)

    def test_three_ways_to_the_same_help(self):
        for verb in VERBS:
            with self.subTest(verb):
                texts = {self.expect(0, *way).stdout for way in ((verb, "--help"), (verb, "-h"), ("help", verb))}
                self.assertEqual(len(texts), 1)
                self.assertIn("Examples", texts.pop())

    def test_help_fits_eighty_columns(self):
        for arguments in (["--help"], *([verb, "--help"] for verb in VERBS)):
            for line in self.expect(0, *arguments).stdout.splitlines():
                self.assertLessEqual(len(line), 80, line)

    def test_help_follows_columns(self):
        narrow = self.expect(0, "run", "--help", env={"COLUMNS": "60"}).stdout
        prose = [line for line in narrow.splitlines() if "nodewise" not in line]
        self.assertLessEqual(max(map(len, prose)), 60)

    def test_version(self):
        self.assertRegex(self.expect(0, "--version").stdout, r"\Anodewise \d+\.\d+\.\d+\n\Z")
        self.assertEqual(self.expect(0, "topo", "--version").stdout, self.expect(0, "--version").stdout)


class Errors(CommandTest):
    def refused(self, *arguments, code=2):
        done = self.expect(code, *arguments)
        self.assertEqual(done.stdout, "")
        self.assertRegex(done.stderr, r"\Anodewise: .*\n    hint: .*\n\Z")
        return done.stderr

    def test_without_a_verb_the_verbs_are_listed(self):
        done = self.expect(2)
        self.assertEqual(done.stdout, "")
        for verb in VERBS:
            self.assertIn(verb, done.stderr)

    def test_typing_errors_are_answered_with_the_nearest_name(self):
        self.assertIn("did you mean topo?", self.refused("toop"))
        self.assertIn("did you mean --memory? `nodewise run --help`", self.refused("run", "--memroy", "x", "./a"))
        self.assertIn("did you mean --write-plan?", self.refused("profile", "--plan", "p.json", "./a"))
        self.assertIn("did you mean never?", self.refused("topo", "--color", "nevr"))
        self.assertIn("did you mean describe?", self.refused("lab", "descirbe"))
        self.assertIn("did you mean doctor?", self.refused("help", "docter"))

    def test_misuse(self):
        self.assertIn("value is missing", self.refused("topo", "--input"))
        self.assertIn("takes no value", self.refused("topo", "--json=1"))
        self.assertIn("program is missing", self.refused("run", "-N", "0"))
        self.assertIn("nodewise VERB -N", self.refused("-N", "0", "./a"))
        self.assertIn("takes options only", self.refused("doctor", "please"))

    def test_a_format_by_its_name(self):
        for verb, formats in (("topo", "xml, json, svg"), ("measure", "json, csv, svg"),
                              ("pages", "json, csv, openmetrics"), ("lab", "json, sarif"),
                              ("profile", "json, pprof, trace, markdown")):
            with self.subTest(verb):
                self.assertIn(f"{verb} has the formats {formats}", self.refused(verb, "--export", "pdf"))
        self.assertIn("did you mean markdown?", self.refused("profile", "--export=markdwon", "p.json"))
        self.assertIn("has no such option", self.refused("doctor", "--export", "json"))
        self.assertIn("--json and --svg: they cannot be combined", self.refused("topo", "--export", "svg", "--json"))
        for form in ("json", "svg", "xml"):
            of = ("topo", "--input", "4x2")
            self.assertEqual(self.expect(0, *of, "--export", form).stdout, self.expect(0, *of, f"--{form}").stdout)

    def test_a_file_that_is_not_there_is_bad_input(self):
        self.assertIn("/no/such.json", self.refused("topo", "--input", "/no/such.json", code=3))

    def test_an_output_name_is_checked(self):
        self.assertIn("%q is unknown", self.refused("doctor", "-o", "%q.json"))
        self.assertIn("MPI rank", self.refused("doctor", "-o", "%r.json"))
        self.assertIn("ENOENT", self.refused("doctor", "-o", "/no/such/folder/x.json", code=4))


class Streams(CommandTest):
    def test_a_pipe_gets_plain_ascii(self):
        for arguments in (["--help"], ["topo", "--input", "4x2"], ["doctor"], ["lab", "list"]):
            text = self.expect(0, *arguments).stdout
            self.assertNotIn("\x1b", text)
            self.assertTrue(text.isascii(), text)

    def test_colour_can_be_forced_and_refused(self):
        escape = "\x1b["
        self.assertIn(escape, self.expect(0, "--help", env={"CLICOLOR_FORCE": "1"}).stdout)
        self.assertNotIn(escape, self.expect(0, "--help", env={"CLICOLOR_FORCE": "1", "NO_COLOR": "1"}).stdout)
        self.assertIn(escape, self.expect(0, "topo", "--color=always", "--help", env={"NO_COLOR": "1"}).stdout)
        self.assertNotIn(escape, self.expect(0, "topo", "--color=never", "--help", env={"CLICOLOR_FORCE": "1"}).stdout)

    def test_a_terminal_gets_colour(self):
        master, slave = os.openpty()
        try:
            done = nodewise("--version", "--help", stdout=slave)
            self.assertEqual(done.returncode, 0, done.stderr)
            seen = b""
            while b"\x1b[" not in seen and select.select([master], [], [], PATIENCE)[0]:
                seen += os.read(master, 100_000)  # perhaps not all of it at once
            self.assertIn(b"\x1b[", seen)
        finally:
            os.close(master)
            os.close(slave)

    def test_what_cannot_be_written_is_an_error(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            done = self.expect(4, "--help", stdout=full)
        self.assertIn("ENOSPC", done.stderr)

    def test_a_closed_standard_output_is_an_error(self):
        done = self.expect(4, "--help", before=("sh", "-c", 'exec "$@" >&-', "sh"))
        self.assertIn("EBADF", done.stderr)

    def test_a_reader_that_went_away_is_an_error(self):
        read, write = os.pipe()
        os.close(read)
        try:
            done = self.expect(4, "--help", stdout=write)
        finally:
            os.close(write)
        self.assertIn("EPIPE", done.stderr)


class Manual(unittest.TestCase):
    def test_every_verb_has_a_page_that_groff_accepts(self):
        pages = BUILD / "share/man/man1"
        names = {page.name for page in pages.iterdir()}
        self.assertEqual(names, {"nodewise.1", *(f"nodewise-{verb}.1" for verb in VERBS)})
        for page in pages.iterdir():
            try:
                done = subprocess.run(
                    ["groff", "-man", "-ww", "-z", "-Tutf8", str(page)], capture_output=True, text=True, check=False
                )
            except FileNotFoundError:
                self.skipTest("groff is not installed")
            self.assertEqual((done.returncode, done.stderr), (0, ""), page)


if __name__ == "__main__":
    unittest.main()
