# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The installed plug-in for pytest: its wheel, and the example in the documentation in virtual machines."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import zipfile
from pathlib import Path

EXAMPLE = Path(__file__).resolve().parent / "locality"
PREFIX = Path(os.environ["NODEWISE_PREFIX"])
PLUGIN = PREFIX / "share/nodewise/pytest-nodewise"
BUILD_WHEEL = "import sys; from hatchling import build; print(build.build_wheel(sys.argv[1]))"


def run(folder: Path, *words: object, **variables: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        list(map(str, words)), cwd=folder, capture_output=True, text=True, env=os.environ | variables, timeout=900,
        check=False,
    )  # fmt: skip


class Plugin(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = Path(self.enterContext(tempfile.TemporaryDirectory(prefix="nodewise-pytest-")))
        self.folder.chmod(0o777)
        before = sorted(PLUGIN.rglob("*"))
        built = run(PLUGIN, sys.executable, "-B", "-c", BUILD_WHEEL, self.folder)
        self.assertEqual(built.returncode, 0, built.stderr)
        self.assertEqual(sorted(PLUGIN.rglob("*")), before, "the installation is not changed, and may be read-only")
        self.wheel = self.folder / built.stdout.split()[-1]
        self.packages = self.folder / "packages"
        with zipfile.ZipFile(self.wheel) as wheel:  # pip installs a wheel of Python files by unpacking it
            wheel.extractall(self.packages)

    def pytest(self, *options: str, **variables: str) -> subprocess.CompletedProcess[str]:
        path = f"{PREFIX / 'bin'}:{os.environ['PATH']}"
        return run(self.folder, sys.executable, "-B", "-m", "pytest", "-p", "no:cacheprovider", *options,
                   PYTHONPATH=str(self.packages), PATH=path, COLUMNS="200", **variables)  # fmt: skip

    def test_the_wheel_has_the_version_of_the_command(self):
        version = run(self.folder, PREFIX / "bin/nodewise", "--version").stdout.split()[-1]
        self.assertEqual(self.wheel.name, f"pytest_nodewise-{version}-py3-none-any.whl")
        said = self.pytest("--markers").stdout
        self.assertIn("@pytest.mark.nodewise_lab(machine): run on this machine of the lab", said)

    def test_the_example_passes_and_is_skipped_where_the_lab_cannot_run(self):
        compiler = os.environ.get("CC", "cc")
        for name in ("sweep.c", "test_sweep.py"):
            shutil.copy(EXAMPLE / name, self.folder)
        built = run(self.folder, compiler, "-O2", "-g", "-fopenmp", "sweep.c", "-o", "sweep")
        self.assertEqual(built.returncode, 0, built.stderr)
        done = self.pytest("test_sweep.py")
        self.assertRegex(done.stdout, "= 2 passed in ", done.stderr)
        done = self.pytest("test_sweep.py", "-rs", NODEWISE_KERNEL="/nonexistent/vmlinuz")
        self.assertRegex(done.stdout, "= 2 skipped in ", done.stderr)
        self.assertIn("the lab cannot run 4x2: lab: cannot use the kernel /nonexistent/vmlinuz", done.stdout)


if __name__ == "__main__":
    unittest.main()
