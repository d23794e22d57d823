# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`--picture`: what a terminal gets is the picture of the SVG, by a protocol that it knows."""

import base64
import math
import os
import shutil
import signal
import subprocess
import tempfile
import termios
import unittest
import xml.etree.ElementTree as ElementTree
from pathlib import Path

from command import ROOT, CommandTest
from fake_terminal import INTERRUPT, KITTY, NO_IMAGES, SIXEL, Png, Seen
from profile_exports_test import counted
from report_page import ReportTest

MEASURED = str(ROOT / "bench/results/16-cores/measure_full.json")
TOPO = ("topo", "-i", "lab:opteron-4x2")
WHITE, DARK = (255, 255, 255), (0x16, 0x1B, 0x22)  # the paper of either scheme


def size_of(svg):
    """In pixels, as a converter rounds it."""
    root = ElementTree.fromstring(svg)
    return math.ceil(float(root.get("width"))), math.ceil(float(root.get("height")))


class Picture(CommandTest):
    def kitty_png(self, seen):
        return Png(base64.b64decode(b"".join(data for _, data in seen.kitty_parts()), validate=True))

    def test_kitty_gets_parts_of_the_protocols_size(self):
        seen = Seen(*TOPO, "--picture", answer=KITTY)
        self.assertEqual(seen.code, 0, seen.text)
        parts = seen.kitty_parts()
        self.assertGreater(len(parts), 2)
        self.assertEqual(parts[0][0], {"a": "T", "f": "100", "q": "2", "m": "1"})
        self.assertEqual({len(data) for _, data in parts[:-1]}, {4096})
        self.assertLessEqual(len(parts[-1][1]), 4096)
        self.assertEqual([keys for keys, _ in parts[1:]], [{"q": "2", "m": "1"}] * (len(parts) - 2) + [{"q": "2", "m": "0"}])
        self.assertEqual(self.kitty_png(seen).size, size_of(self.expect(0, *TOPO, "--svg").stdout))

    def test_iterm2_gets_the_image_with_its_size(self):
        seen = Seen(*TOPO, "--picture", TERM_PROGRAM="iTerm.app")
        size, image = seen.iterm2_image()
        self.assertEqual((seen.code, size), (0, len(image)))
        self.assertEqual(Png(image).size, size_of(self.expect(0, *TOPO, "--svg").stdout))

    def test_sixel_is_read_by_another_program(self):
        seen = Seen(*TOPO, "--picture", answer=SIXEL)
        self.assertEqual(seen.code, 0, seen.text)
        read = subprocess.run(["sixel2png"], input=seen.sixel_image(), capture_output=True, check=True).stdout
        self.assertEqual(Png(read).size, size_of(self.expect(0, *TOPO, "--svg").stdout))

    def test_the_picture_is_not_wider_than_the_window(self):
        wide = size_of(self.expect(0, *TOPO, "--svg").stdout)
        narrow = self.kitty_png(Seen(*TOPO, "--picture=kitty", pixels=400))
        self.assertEqual(narrow.width, 400)
        self.assertAlmostEqual(narrow.height, wide[1] * 400 / wide[0], delta=1)
        self.assertEqual(self.kitty_png(Seen(*TOPO, "--picture=kitty", pixels=4000)).size, wide)

    def test_the_colours_are_those_of_the_terminal(self):
        for answer, variables, paper in (
            (b"\x1b]11;rgb:1e1e/1e1e/2e2e\x1b\\", {}, DARK),
            (b"\x1b]11;rgb:00/00/00\a", {}, DARK),
            (b"\x1b]11;rgb:ffff/ffff/eeee\x1b\\", {"COLORFGBG": "15;0"}, WHITE),
            (b"", {"COLORFGBG": "15;default;0"}, DARK),
            (b"", {"COLORFGBG": "0;15"}, WHITE),
            (b"\x1b]11;rgb:zz/00/00\a", {}, WHITE),
            (b"", {}, WHITE),
        ):
            with self.subTest(answer=answer, **variables):
                seen = Seen(*TOPO, "--picture=kitty", answer=answer + NO_IMAGES, **variables)
                self.assertEqual(self.kitty_png(seen).first_pixel, paper)

    def test_the_protocol_is_that_of_the_terminal(self):
        kitty, iterm2, sixel = b"\x1b_Ga=T,", b"\x1b]1337;File=", b"\x1bP"
        for protocol, answer, variables in (
            (kitty, NO_IMAGES, {"TERM": "xterm-kitty"}),
            (kitty, NO_IMAGES, {"KITTY_WINDOW_ID": "3"}),
            (kitty, KITTY + SIXEL, {}),
            (iterm2, NO_IMAGES, {"LC_TERMINAL": "iTerm2"}),
            (iterm2, SIXEL, {"TERM_PROGRAM": "WezTerm"}),
            (sixel, SIXEL, {"TERM": "foot"}),
            (sixel, SIXEL, {"KITTY_WINDOW_ID": "3", "TMUX": "/tmp/tmux-0/default,1,0"}),
            (None, NO_IMAGES, {"LC_TERMINAL": "iTerm2", "TERM": "screen-256color"}),
            (None, b"\x1b[?4;6c", {}),  # a 4 in front is the class of a VT132
        ):
            with self.subTest(answer=answer, **variables):
                seen = Seen(*TOPO, "--picture", answer=answer, **variables)
                self.assertEqual([each for each in (kitty, iterm2, sixel) if each in seen.bytes], [protocol] if protocol else [])
                self.assertEqual(seen.code, 0 if protocol else 4)

    def test_a_terminal_that_prints_unknown_questions_is_not_asked_about_kitty(self):
        for variables, asked in (({"TERM": "xterm"}, True), ({"TERM": "linux"}, False), ({"TERM": "tmux-256color"}, False)):
            self.assertEqual(b"\x1b_Gi=31" in Seen(*TOPO, "--picture", **variables).bytes, asked, variables)

    def test_a_terminal_without_pictures_is_an_error_with_a_hint(self):
        for answer in (NO_IMAGES, b""):  # or without any answer
            seen = Seen(*TOPO, "--picture", answer=answer)
            self.assertEqual(seen.code, 4)
            for words in ("does not report", "-o FILE.svg", "--picture=sixel"):
                self.assertIn(words, " ".join(seen.text.split()))

    def test_the_terminal_is_left_as_it_was(self):
        for answer, code in ((KITTY, 0), (b"", 4), (INTERRUPT, -signal.SIGINT)):
            seen = Seen(*TOPO, "--picture", answer=answer)
            self.assertEqual((seen.code, seen.after), (code, seen.before), answer)
            self.assertTrue(seen.before[3] & termios.ECHO)

    def test_without_a_terminal_it_is_refused_before_anything_is_measured(self):
        for verb in (TOPO, ("measure",), ("measure", MEASURED)):
            done = self.expect(2, *verb, "--picture=kitty")
            self.assertEqual(done.stdout, "")
            self.assertIn("standard output is not a terminal", done.stderr)
            self.assertIn("hint: write the picture to a file: -o FILE.svg or -o FILE.png", done.stderr)
            self.assertNotIn("measuring", done.stderr)

    def test_what_it_cannot_be_combined_with(self):
        for other in (["-o", "x.png"], ["--svg"], ["--json"], ["--on", "lab:2x2"]):
            self.assertIn("cannot be combined", self.expect(2, "topo", "--picture", *other).stderr)
        self.assertIn("kitty|iterm2|sixel", self.expect(2, "topo", "--picture=tek").stderr)

    def test_a_missing_converter_is_named_with_its_package(self):
        with tempfile.TemporaryDirectory() as folder:
            seen = Seen(*TOPO, "--picture=kitty", PATH=folder)
            self.assertEqual((seen.code, "librsvg2-bin" in seen.text), (4, True), seen.text)
            os.symlink(shutil.which("rsvg-convert"), Path(folder) / "rsvg-convert")
            seen = Seen(*TOPO, "--picture=sixel", PATH=folder)
            self.assertEqual((seen.code, "libsixel-bin" in seen.text), (4, True), seen.text)

    def test_measure_draws_a_saved_measurement(self):
        seen = Seen("measure", MEASURED, "--picture=kitty")
        self.assertEqual(self.kitty_png(seen).size, size_of(self.expect(0, "measure", MEASURED, "--svg").stdout))


class Report(ReportTest):
    def test_a_picture_of_the_page(self):
        file = self.write(counted())
        seen = Seen("report", file, "--figure", "arrays", "--picture", TERM_PROGRAM="iTerm.app")
        svg = self.expect(0, "report", file, "--figure", "arrays").stdout
        self.assertEqual(Png(seen.iterm2_image()[1]).size, size_of(svg))
        self.assertIn("--figure NAME", self.expect(2, "report", file, "--picture").stderr)
        for other in (["-o", str(self.folder / "a.png")], ["--open"], ["--serve"]):
            self.assertIn("cannot be combined", self.expect(2, "report", file, "--figure", "arrays", "--picture", *other).stderr)
        self.assertEqual(os.listdir(self.folder), ["result.json"])


if __name__ == "__main__":
    unittest.main()
