# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""nodewise_add_lab_test of the installed CMake package: in a user's project, and with wrong arguments."""

import os
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent / "locality"
PREFIX = Path(os.environ["NODEWISE_PREFIX"])
NO_LAB = {"NODEWISE_KERNEL": "/nonexistent/vmlinuz"}

# The same program as it should not be, beside the example.
PROJECT = f"""
cmake_minimum_required(VERSION 3.25)
project(tests C)
enable_testing()
add_subdirectory({EXAMPLE} example)
nodewise_add_lab_test(NAME filled_by_one_thread MACHINE lab:4x2 COMMAND sweep serial OBJECT a MAX_REMOTE 5)
set_tests_properties(filled_by_one_thread PROPERTIES
  ENVIRONMENT "OMP_NUM_THREADS=8;OMP_PROC_BIND=spread;OMP_PLACES=cores")
nodewise_add_lab_test(NAME later MACHINE 2x1 COMMAND defined_later "a;b" MAX_REMOTE 2.5 MAX_IMBALANCE 1.5 PHASE all
  OBJECT a b.c:3 OPTIONS --bind close TIMEOUT 120)
add_executable(defined_later {EXAMPLE}/sweep.c)
nodewise_add_lab_test(NAME path MACHINE ./mine.json COMMAND ./sweep MAX_IMBALANCE 2)
"""
# What is wrong, and what the message must name.
WRONG = {
    "": ("NAME is missing", "MACHINE 4x2 COMMAND"),
    "NAME a COMMAND x": ("MACHINE is missing", "MACHINE 4x2"),
    "NAME a MACHINE 4x2": ("COMMAND is missing", "COMMAND my_program"),
    "a MACHINE 4x2 COMMAND x": ("'a' belongs to no argument", "begin with NAME"),
    "NAME a MACHINE COMMAND x": ("MACHINE has no value", "write a value after MACHINE"),
    "NAME a MACHINE 4y2 COMMAND x": ("MACHINE 4y2 is not a machine", "nodewise lab list"),
    "NAME a MACHINE gone.json COMMAND x": ("MACHINE /.*/gone.json is not a machine", "a machine file"),
    "NAME a MACHINE 4x2 COMMAND lib": ("COMMAND lib is a target that is not an executable", "path of one"),
    "NAME a MACHINE 4x2 COMMAND x MAX_REMOTE few": ("MAX_REMOTE few is not a percentage", "MAX_REMOTE 5"),
    "NAME a MACHINE 4x2 COMMAND x MAX_REMOTE -1": ("MAX_REMOTE -1 is not a percentage", "MAX_REMOTE 5"),
    "NAME a MACHINE 4x2 COMMAND x MAX_REMOTE 101": ("MAX_REMOTE 101 is not a percentage", "MAX_REMOTE 5"),
    "NAME a MACHINE 4x2 COMMAND x MAX_REMOTE 100.5": ("MAX_REMOTE 100.5 is more than everything", "MAX_REMOTE 5"),
    "NAME a MACHINE 4x2 COMMAND x MAX_IMBALANCE 0.5": ("MAX_IMBALANCE 0.5 is not a ratio", "MAX_IMBALANCE 1.5"),
    "NAME a MACHINE 4x2 COMMAND x MAX_IMBALANCE 2 OBJECT b": ("OBJECT without MAX_REMOTE", "add MAX_REMOTE 5"),
    "NAME a MACHINE 4x2 COMMAND x PHASE end": ("PHASE end is not a phase", "PHASE use"),
    "NAME a MACHINE 4x2 COMMAND x TIMEOUT soon": ("TIMEOUT soon is not a number of seconds", "TIMEOUT 120"),
}  # fmt: skip


def run(*words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)), capture_output=True, text=True, env=os.environ | variables, timeout=900, check=False
    )


def configure(source: Path, build: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return run("cmake", "-S", source, "-B", build, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={PREFIX}", *options)


class Project(unittest.TestCase):
    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = Path(cls.enterClassContext(tempfile.TemporaryDirectory(prefix="nodewise-lab-tests-")))
        cls.folder.chmod(0o777)
        (cls.folder / "CMakeLists.txt").write_text(PROJECT)
        described = run(PREFIX / "bin/nodewise", "lab", "describe", "4x2", "--json")
        (cls.folder / "mine.json").write_text(described.stdout)
        cls.build = cls.folder / "build"
        for done in (configure(cls.folder, cls.build), run("cmake", "--build", cls.build, "--target", "sweep")):
            assert done.returncode == 0, done.stdout + done.stderr

    def ctest(self, names: str, build: Path | None = None, **variables: str) -> dict[str, tuple[str, str]]:
        """For each test its status as CTest reports it, or why it was skipped, and its output."""
        report = self.folder / "report.xml"
        run("ctest", "--test-dir", build or self.build, "-R", names, "--output-junit", report, **variables)
        ended = {}
        for case in xml.etree.ElementTree.parse(report).iter("testcase"):
            skipped = case.find("skipped")
            status = case.get("status") if skipped is None else skipped.get("message")
            ended[case.get("name")] = (status, "".join(case.itertext()))
        return ended

    def test_remote_traffic_fails_and_local_traffic_passes(self):
        ended = self.ctest("sweep_is_local|filled_by_one_thread")
        status, said = ended["sweep_is_local"]
        self.assertEqual(status, "run", said)
        self.assertRegex(said, r"passed: a in use: (9\d\.\d|100) % local \(at least 95\.0 % required\)")
        status, said = ended["filled_by_one_thread"]
        self.assertEqual(status, "fail", said)
        self.assertRegex(said, r"failed: a in use: 2\d\.\d % local \(at least 95\.0 % required\)")

    def test_it_is_skipped_where_the_lab_cannot_run(self):
        status, said = self.ctest("sweep_is_local", **NO_LAB)["sweep_is_local"]
        self.assertEqual(status, "SKIP_RETURN_CODE=125", said)
        self.assertIn("cannot use the kernel /nonexistent/vmlinuz", said)

    def test_it_fails_there_where_the_lab_is_required(self):
        build = self.folder / "required"
        self.assertEqual(configure(self.folder, build, "-DNODEWISE_LAB_REQUIRED=ON").returncode, 0)
        status, said = self.ctest("sweep_is_local", build, **NO_LAB)["sweep_is_local"]
        self.assertEqual(status, "fail", said)

    def test_arguments_become_options_of_the_check(self):
        listed = run("ctest", "--test-dir", self.build, "-N", "-V", "-R", "later|path").stdout
        self.assertIn(
            '"lab" "check" "--on" "lab:2x1" "--max-imbalance" "1.5" "--min-local" "97.5%" "--object" "a"'
            ' "--object" "b.c:3" "--phase" "all" "--on-timeout" "120" "--bind" "close"'
            f' "--" "{self.build}/defined_later" "a;b"\n',
            listed,
        )
        self.assertIn(f'"--on" "lab:{self.folder}/mine.json" "--max-imbalance" "2" "--" "./sweep"\n', listed)

    def test_a_failing_check_has_the_exit_code_of_the_command(self):
        status, said = self.ctest("path")["path"]  # ./sweep is not in the folder of the build
        self.assertEqual(status, "fail", said)
        self.assertIn("./sweep", said)


class WrongArguments(unittest.TestCase):
    def test_the_message_names_the_argument_and_the_fix(self):
        with tempfile.TemporaryDirectory() as name:
            folder = Path(name)
            for arguments, (what, hint) in WRONG.items():
                with self.subTest(arguments):
                    (folder / "CMakeLists.txt").write_text(
                        "cmake_minimum_required(VERSION 3.25)\nproject(wrong NONE)\nfind_package(nodewise REQUIRED)\n"
                        f"add_library(lib INTERFACE)\nenable_testing()\nnodewise_add_lab_test({arguments})\n"
                    )
                    done = configure(folder, folder / "build")
                    self.assertNotEqual(done.returncode, 0)
                    said = " ".join(done.stderr.split())
                    self.assertRegex(said, f"nodewise_add_lab_test: {what}")
                    self.assertRegex(said, f"hint: .*{hint}")


if __name__ == "__main__":
    unittest.main()
