# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Names of files, programs, arrays and functions may hold bytes that a terminal obeys: it gets none of them."""

import json
import re
import shutil
import tempfile
import unittest
from pathlib import Path

import profile_input_test
from command import CommandTest, on_a_terminal

# Clears the screen, sets the title, is C1's form of ESC [, goes back in the line, reverses the text's direction.
EVIL = "x\x1b[2J\x1b]0;title\x07\x9b2J\r\b\u202ey"
SHOWN = r"x\x1b[2J\x1b]0;title\x07\xc2\x9b2J\r\x08\xe2\x80\xaey"
OWN_COLOUR = re.compile(rb"\x1b\[[0-9;]*m")


class ControlCharacters(CommandTest):
    def setUp(self):
        kept = tempfile.TemporaryDirectory(prefix="nodewise-control-")
        self.addCleanup(kept.cleanup)
        self.folder = Path(kept.name)

    def check(self, *arguments, shows=True, **variables):
        got = on_a_terminal(*arguments, columns=400, cwd=self.folder, **variables)
        left = OWN_COLOUR.sub(b"", got).replace(b"\r\n", b"\n").decode()
        self.assertEqual([c for c in left if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160 or c == "\u202e")], [],
                         (arguments, left))
        if shows:
            self.assertIn(SHOWN, left)
        return left

    def evil_profile(self):
        document = profile_input_test.profile(command=["./" + EVIL])
        program = document["programs"][0]
        program["name"] = EVIL
        for thing in program["objects"]:
            for frame in [*thing["made_at"], *(f for t in thing["touches"] for f in t["where"]),
                          *(u["where"] for u in thing["used_at"])]:
                frame.update(function=EVIL, file="/src/" + EVIL, module=EVIL)
        document["evidence"]["missing"] = [EVIL]
        document["machine"] = document["machine"] | {"name": EVIL, "title": EVIL}
        (self.folder / EVIL).write_text(json.dumps(document))

    def test_in_a_profile(self):
        self.evil_profile()
        self.check("profile", EVIL)
        self.check("profile", EVIL, "--json", shows=False)
        self.check("profile", "--compare", EVIL, EVIL)
        self.check("profile", "--write-plan", EVIL + ".plan", EVIL)
        plain = self.expect(0, "profile", EVIL, cwd=self.folder)
        self.assertIn(SHOWN, plain.stdout)
        self.assertNotIn("\x1b", plain.stdout)  # a pager or `cat` may come next

    def test_in_json_the_names_are_what_they_were(self):
        self.evil_profile()
        text = self.expect(0, "profile", "--json", EVIL, cwd=self.folder).stdout
        self.assertIn(EVIL, {each["name"] for finding in json.loads(text)["findings"] for each in finding["objects"]}
                      | {each["program"] for each in json.loads(text).get("plans", []) if "program" in each}
                      | {f["file"].removeprefix("/src/") for finding in json.loads(text)["findings"]
                         for f in (finding.get("first_touched", []) + finding.get("used", [])) if "file" in f})
        self.assertEqual([c for c in text if c != "\n" and (ord(c) < 32 or 127 <= ord(c) < 160)], [])

    def test_in_a_damaged_file(self):
        (self.folder / EVIL).write_text(json.dumps({"schema": EVIL}))
        for arguments in (("profile", EVIL), ("run", "--plan", EVIL, "--", "true"), ("run", "--plan-optional", EVIL, "--", "true")):
            self.check(*arguments)

    def test_of_a_program(self):
        self.check("run", "--", "./" + EVIL)
        self.check("run", "--verify", "--", "./" + EVIL)
        self.check("profile", "--", "./" + EVIL)
        self.check("run", "--" + EVIL)
        self.check("run", "--dry-run", "--", EVIL)
        shutil.copy("/bin/true", self.folder / EVIL)
        self.check("run", "--verify", "--memory", "blocked", "--", "./" + EVIL, shows=False)


if __name__ == "__main__":
    unittest.main()
