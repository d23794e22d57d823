# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Who may run the lab, and what it says where something is missing."""

import os
import pwd
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

import lab


class OrdinaryUser(lab.LabTest):
    """Needs no root. If the tests run as root, they step down to nobody."""

    def test_runs_with_own_cache_and_owns_what_it_writes(self):
        if os.stat(os.devnull).st_mode & 0o006 != 0o006:
            self.skipTest(f"on this machine only root may open {os.devnull}: an ordinary user runs hardly anything")
        nobody = pwd.getpwnam("nobody") if os.getuid() == 0 else pwd.getpwuid(os.getuid())
        cache = lab.private_cache(self.directory)
        tools = self.directory / "lab"  # the build tree may lie where nobody may not look
        shutil.copytree(lab.RUNNER.parent, tools, ignore=shutil.ignore_patterns("__pycache__"))
        machine = shutil.copy(lab.TWO_NODES, self.directory)
        work = self.directory / "work"
        work.mkdir()
        for path in (cache, *cache.rglob("*"), work):
            os.chown(path, nobody.pw_uid, nobody.pw_gid)
        command = [lab.PYTHON, "-B", str(tools / "nodewise_lab"), "run", "--machine", machine, "--"]
        command += [
            "sh",
            "-c",
            "id -u > mine; id -u; grep CapEff /proc/self/status | cut -f2; [ -r /etc/shadow ] || echo shut",
        ]
        result = subprocess.run(
            command, capture_output=True, stdin=subprocess.DEVNULL, cwd=work, timeout=900,
            user=nobody.pw_uid, group=nobody.pw_gid, extra_groups=[],
            env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(work), "NODEWISE_CACHE": str(cache)},
        )  # fmt: skip
        self.assert_output(result, f"{nobody.pw_uid}\n{'0' * 16}\nshut\n")
        self.assertEqual((work / "mine").stat().st_uid, nobody.pw_uid)
        self.assertEqual(len(list(cache.rglob("state"))), 1)


class Missing(lab.LabTest):
    def programs(self, *names: str) -> str:
        """A PATH with nothing but these."""
        directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        for name in names:
            (directory / name).symlink_to(shutil.which(name))
        return str(directory)

    def test_no_qemu(self):
        result = lab.run("true", env={**os.environ, "PATH": self.programs()})
        self.assertEqual(result.returncode, 125)
        self.assertEqual(
            result.stderr,
            b"nodewise: lab: cannot find qemu-system-x86_64, which emulates the machine: it is not in PATH\n"
            b"    hint: install QEMU: sudo apt-get install qemu-system-x86\n",
        )

    def test_no_kernel(self):
        environment = {
            **os.environ,
            "PATH": self.programs("qemu-system-x86_64"),
            "NODEWISE_CACHE": str(self.directory),
        }
        result = lab.run("true", env=environment)
        self.assertEqual(result.returncode, 125)
        self.assertIn(
            b"cannot find apt-cache, which gets a kernel from the distribution: it is not in PATH\n    hint: ",
            result.stderr,
        )

    def test_no_such_kernel_package(self):
        result = lab.run("true", env={**os.environ, "NODEWISE_KERNEL_DEB": "/no/such.deb"})
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"cannot read the kernel package /no/such.deb (NODEWISE_KERNEL_DEB): ", result.stderr)

    def test_no_machine_file(self):
        result = lab.run("true", machine=Path("/no/machine.json"))
        self.assertEqual(result.returncode, 125)
        self.assertIn(
            b"cannot read the machine file /no/machine.json: No such file or directory\n    hint: ",
            result.stderr,
        )

    def test_a_guest_that_panics_shows_its_console(self):
        result = lab.run("true", env={**os.environ, "NODEWISE_GUEST_INIT": "/bin/true"})
        self.assertEqual(result.returncode, 125)
        self.assertIn(
            b"cannot boot the virtual machine: QEMU ended", result.stderr
        )
        self.assertIn(b"Kernel panic", result.stderr)
        self.assertRegex(result.stderr, rb"\n    hint: run it again with --verbose.*\n\Z")

    def test_no_guest_init(self):
        result = lab.run("true", env={**os.environ, "NODEWISE_GUEST_INIT": "/no/init"})
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"cannot read the guest's init /no/init: No such file or directory\n    hint: ", result.stderr)

    def test_an_init_for_another_processor(self):
        init = self.directory / "init"
        init.write_bytes(b"\x7fELF\x02\x01\x01" + bytes(9) + b"\x02\x00\xb7\x00" + bytes(44))
        result = lab.run("true", env={**os.environ, "NODEWISE_GUEST_INIT": str(init)})
        self.assertEqual(result.returncode, 125)
        self.assertIn(b"it is not for x86-64, and the lab's guests run nothing else\n    hint: ", result.stderr)


if __name__ == "__main__":
    unittest.main()
