# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The agent never ends a program, also where a function that it stands in for is not found."""

import signal
import subprocess
import unittest

from library_test import ALLOCATION, OPERATORS, PROCESS, THREADS
from programs_test import AGENT, PROGRAMS
from promises_test import SETTINGS, run

HIDING = PROGRAMS / "missing.so"


class Plugins(unittest.TestCase):
    """A C++ plug-in of a program in C, whose operators only the plug-in's own libraries have."""

    def test_last_deletes_are_as_without_the_agent(self):
        host = PROGRAMS / "last_delete_host"
        for flags in ("local", "deepbind", "global"):
            for names in (["last_delete"], ["last_delete_static"], ["last_delete", "last_delete_static"]):
                command = [host, flags, *(PROGRAMS / f"{name}.so" for name in names)]
                for settings in SETTINGS:
                    with self.subTest(flags=flags, names=names, settings=settings):
                        self.assertEqual(run(command, [AGENT], settings), (0, b"loaded\n", b""))

    def test_the_plugin_calls_in_tail_position(self):
        code = subprocess.run(["objdump", "-d", "--no-show-raw-insn", PROGRAMS / "last_delete.so"],
                              capture_output=True, text=True, check=True).stdout
        self.assertRegex(code, r"(jmp|\bb)\s+[0-9a-f]+ <_ZdlPvm@plt")


class Missing(unittest.TestCase):
    def test_programs_go_on_without_the_operators(self):
        for settings in SETTINGS:
            command = [PROGRAMS / "last_delete_host", "local", PROGRAMS / "last_delete.so"]
            for names in [sorted(OPERATORS), *([name] for name in sorted(OPERATORS))]:
                with self.subTest(names=names, settings=settings):
                    done = run(command, [HIDING, AGENT], settings, {"MISSING": ",".join(names)})
                    self.assertEqual(done, (0, b"loaded\n", b""))

    def test_no_missing_function_ends_a_program(self):
        """It fails as the program finds: `malloc_family` and `threads` say what they miss and abort."""
        programs = {"malloc_family": ALLOCATION, "threads": THREADS | PROCESS}
        for program, names in programs.items():
            for name in sorted(names):
                with self.subTest(name=name, program=program):
                    command = [PROGRAMS / program]
                    status, _, errors = run(command, [HIDING, AGENT], SETTINGS[0], {"MISSING": name})
                    self.assertNotIn(b"nodewise", errors)
                    if status < 0:
                        self.assertEqual(status, -signal.SIGABRT)
                        self.assertRegex(errors, rb"\.c:\d+: ")

    def test_without_any_allocator_behind_it_memory_is_mapped(self):
        done = run(["/bin/true"], [HIDING, AGENT], SETTINGS[0], {"MISSING": ",".join(sorted(ALLOCATION))})
        self.assertEqual(done, (0, b"", b""))


if __name__ == "__main__":
    unittest.main()
