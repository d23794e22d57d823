# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The agent never ends, changes or stalls a program, at its end and wherever it goes past the C library."""

import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import agent_report
from programs_test import AGENT, PROGRAMS
from promises_test import SETTINGS, run

PROGRAM = PROGRAMS / "undisturbed"
DONE = (7, b"", b"")


def run_reported(command, settings, env=None):
    """What it shows, and the agent's report."""
    with tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
        agent_report.reserve(file.name)
        shown = run(command, [AGENT], f"{settings};report={file.name}", env)
        return shown, agent_report.read(pathlib.Path(file.name).read_bytes())


class Ends(unittest.TestCase):
    def check(self, case):
        """It ends as without the agent, and its report has an end and the eight blocks that live."""
        self.assertEqual(run([PROGRAM, case]), DONE)
        for settings in SETTINGS:
            with self.subTest(settings):
                shown, report = run_reported([PROGRAM, case], settings)
                self.assertEqual(shown, DONE)
                self.assertEqual(len(report.ends), 1)
                self.assertGreaterEqual(sum(each.kind == agent_report.HEAP for each in report.objects), 8)

    def test_on_the_smallest_alternate_stack(self):
        self.check("exit_on_small_stack")
        self.check("exit_after_overflow")

    def test_of_several_threads_at_once(self):
        self.check("exit_of_several_threads")

    def test_while_signals_arrive_whose_handlers_exit(self):
        self.check("exit_under_signals")

    def test_of_a_child_of_vfork(self):
        self.check("exit_of_a_child_of_vfork")


class Mappings(unittest.TestCase):
    """mremap and its raw system call keep contents and rights, and fail where the kernel does."""

    def check(self, *others):
        for case in ("remap_with_all_rights", "remap_in_a_child", "remap_of_several", "system_calls_by_number"):
            self.assertEqual(run([PROGRAM, case], others), DONE)
            for settings in SETTINGS:
                with self.subTest(case=case, settings=settings):
                    self.assertEqual(run([PROGRAM, case], [AGENT, *others], settings), DONE)

    def test_they_are_as_without_the_agent(self):
        self.check()

    def test_the_mremap_of_another_library_makes_the_system_call(self):
        self.check(PROGRAMS / "passing_malloc.so")

    def test_policies_are_no_obstacle(self):
        for settings in SETTINGS:
            with self.subTest(settings):
                self.assertEqual(run([PROGRAM, "remap_of_several_policies"], [AGENT], settings), DONE)


class PastTheAgent(unittest.TestCase):
    """Code that finds the C library's own functions: blocks cross, in both directions."""

    def check(self, case):
        command = [PROGRAMS / "past_host", case, PROGRAMS / "past_plugin.so"]
        self.assertEqual(run(command), DONE)
        for settings in ("v3;threshold=65536;owners=0*2,0*2;default=blocked", "v3;threshold=65536;default=cyclic@65536@0*2,0*2",
                         "v3;threshold=65536"):
            with self.subTest(settings):
                self.assertEqual(run(command, [AGENT], settings), DONE)
                shown, report = run_reported(command, settings)
                self.assertEqual(shown, DONE)
                self.assertEqual(len(report.ends), case != "namespace_leaves")

    def test_of_a_library_that_prefers_its_own(self):
        self.check("deepbind")

    def test_by_pointers_into_the_c_library(self):
        self.check("pointers")

    def test_in_a_namespace_of_its_own(self):
        """An exit from there ends the process without its destructors, with the agent and without."""
        self.check("namespace")
        self.check("namespace_leaves")


class Starts(unittest.TestCase):
    """Programs that another one starts: those that would not start with the agent, or complain, have none."""

    FUNCTIONS = ("execve", "execv", "execvp", "execvpe", "execl", "execlp", "execle", "fexecve", "execveat", "vfork",
                 "posix_spawn", "posix_spawnp")
    OTHER = "libm.so.6"

    @classmethod
    def setUpClass(cls):
        loader = re.search(r"interpreter: (.*)\]", subprocess.run(
            ["readelf", "-lW", PROGRAM], capture_output=True, text=True, check=True).stdout).group(1)
        shutil.copy(loader, PROGRAMS / "other_loader.so")

    def check(self, programs, with_agent, others=(OTHER,), functions=FUNCTIONS):
        path = {"PATH": f"/nowhere:{PROGRAMS}:{os.environ['PATH']}"}
        shown = ":".join([*([str(AGENT)] if with_agent else []), *others]) or "nothing"
        for program in programs:
            for function in functions:
                with self.subTest(program=program, function=function):
                    self.assertEqual(run([PROGRAMS / "starts", function, program], [AGENT, *others], SETTINGS[0], path),
                                     (7, f"{shown}\n".encode(), b""))

    def test_with_the_agent(self):
        self.check([PROGRAMS / "shows_preload_plain", PROGRAMS / "shows_preload_static"], True)

    def test_of_another_c_library(self):
        self.check([PROGRAMS / "shows_preload_other"], False)
        self.check([PROGRAMS / "shows_preload_other"], False, [])

    def test_with_a_sanitizer(self):
        self.check([PROGRAMS / "shows_preload_asan", PROGRAMS / "shows_preload_tsan"], False, [], self.FUNCTIONS[:2])

    def test_scripts(self):
        with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
            for name, with_agent in (("plain", True), ("other", False)):
                script = pathlib.Path(folder) / name
                script.write_text(f"#! {PROGRAMS}/shows_preload_{name} argument\n", encoding="ascii")
                script.chmod(0o755)
                self.check([script], with_agent, functions=("execve", "execl", "posix_spawn"))

    def test_of_another_machine(self):
        """It cannot be started here; what is asked for is that the call fails as without the agent."""
        with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
            program = pathlib.Path(folder) / "damaged"
            for content in (b"\x7fELF\x01\x01\x01" + bytes(9) + b"\x02\x00\xff\x00" + bytes(300), b"\x7fELF\x02\x01\x01",
                            b"#!", b"#!\n", b"#!" + b"/x" * 500, b""):
                program.write_bytes(content)
                program.chmod(0o755)
                command = [PROGRAMS / "starts", "execve", program]
                self.assertEqual(run(command, [AGENT], SETTINGS[0]), run(command))


if __name__ == "__main__":
    unittest.main()
