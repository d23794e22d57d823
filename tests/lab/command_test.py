# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A command in the guest ends, runs and sees the world as it would on the host."""

import os
import signal
import subprocess
import time
import unittest

import lab


class Ending(lab.LabTest):
    def test_exit_statuses_come_back_whole(self):
        for status in (0, 7, 200, 255):
            with self.subTest(status=status):
                self.assertEqual(lab.shell(f"exit {status}").returncode, status)

    def test_death_by_signal_is_death_by_that_signal(self):
        for number in (signal.SIGSEGV, signal.SIGKILL):
            with self.subTest(signal=number.name):
                self.assertEqual(lab.shell(f"kill -{int(number)} $$").returncode, -number)

    def test_illegal_instruction_is_explained(self):
        result = lab.shell("kill -ILL $$")
        self.assertEqual(result.returncode, -signal.SIGILL)
        self.assertRegex(result.stderr, rb"died by SIGILL: .* no AVX-512\n    hint: build for x86-64-v3")

    def test_a_command_that_cannot_run_says_why(self):
        missing = lab.run("no-such-program")
        self.assertEqual(missing.returncode, 127)
        self.assertIn(
            b"nodewise: lab: cannot run 'no-such-program': No such file or directory\n    hint: ", missing.stderr
        )
        self.assertEqual(lab.run("/etc/passwd").returncode, 126)

    def test_what_the_command_leaves_running_does_not_hold_it_up(self):
        # It would sleep for longer than the test has patience.
        self.assert_output(lab.shell("sleep 1000 & echo done", timeout=500), "done\n")

    def test_running_out_of_memory_is_explained(self):
        # 1 GiB, filled by the kernel: a program that fills it needs its own code meanwhile, which the guest takes out of
        # memory again and again before it gives up, for minutes or longer.
        grow = ("from mmap import *; how = MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE;"
                "held = [mmap(-1, 256 << 20, flags=how) for _ in range(4)]")
        result = lab.run("/usr/bin/python3", "-S", "-c", grow, machine=lab.TWO_NODES)
        self.assertEqual(result.returncode, -signal.SIGKILL)
        self.assertRegex(result.stderr, rb"ran out of memory .*\n    hint: increase lab.memory_bytes_per_node")


class Circumstances(lab.LabTest):
    def test_caller_without_capabilities(self):
        result = lab.shell(
            "id -u; id -g; umask; grep -E 'Cap(Prm|Eff|Bnd)' /proc/self/status | tr -d '\\t'"
        )
        nothing = "0" * 16
        mask = os.umask(0)
        os.umask(mask)
        expected = f"{os.getuid()}\n{os.getgid()}\n{mask:04o}\nCapPrm:{nothing}\nCapEff:{nothing}\nCapBnd:{nothing}\n"
        self.assert_output(result, expected)

    def test_environment_and_working_directory(self):
        environment = {**os.environ, "LAB_TEST": "a b=c\nd", "OMP_WAIT_POLICY": "active"}
        script = 'echo "$LAB_TEST|$EXTRA|$OMP_WAIT_POLICY|$NODEWISE_LAB|$PWD|$(pwd -P)"'
        result = lab.shell(
            script, options=("--env", "EXTRA=1"), env=environment, cwd=self.directory
        )
        self.assert_output(
            result, f"a b=c\nd|1|active|opteron-4x2|{self.directory}|{self.directory}\n"
        )

    def test_waiting_threads_do_not_spin_by_default(self):
        environment = {
            name: value for name, value in os.environ.items() if name != "OMP_WAIT_POLICY"
        }
        self.assert_output(lab.shell("echo $OMP_WAIT_POLICY", env=environment), "passive\n")

    def test_limits_are_the_callers(self):
        command = lab.on(lab.FOUR_NODES, "sh", "-c", "ulimit -n; ulimit -s")
        limited = subprocess.run(
            ["sh", "-c", 'ulimit -n 777; ulimit -s 4096; exec "$@"', "sh", *command],
            capture_output=True,
        )
        self.assert_output(limited, "777\n4096\n")

    def test_clock_is_the_hosts(self):
        # Asked between two looks at the host's, however long that takes. A restored guest sets its clock
        # by a time that the host sent it: late by what that took, early never but for rounding.
        before = time.time()
        result = lab.run("date", "+%s.%N")
        self.assertGreater(float(result.stdout), before - 2)
        self.assertLess(float(result.stdout), time.time() + 2)

    def test_two_restored_machines_draw_different_random_numbers(self):
        drawn = [lab.run("od", "-An", "-N16", "-tx1", "/dev/urandom").stdout for _ in range(2)]
        self.assertEqual([len(line.split()) for line in drawn], [16, 16])
        self.assertNotEqual(*drawn)

    def test_nothing_else_runs(self):
        script = (
            "for p in /proc/[0-9]*; do [ -s $p/cmdline ] && tr '\\0' ' ' < $p/cmdline && echo; done"
        )
        commands = [
            line.split()[0]
            for line in lab.shell(script).stdout.decode().splitlines()
            if line.strip()
        ]
        self.assertLessEqual(set(commands), {"/init", "sh", "tr"})

    def test_kernel_settings(self):
        show = "cat /proc/sys/kernel/numa_balancing /proc/sys/kernel/perf_event_paranoid /sys/kernel/mm/transparent_hugepage/enabled"
        self.assert_output(lab.shell(show), "0\n0\nalways [madvise] never\n")
        chosen = lab.shell(show, options=("--numa-balancing", "2", "--thp", "always"))
        self.assert_output(chosen, "2\n0\n[always] madvise never\n")

    def test_loopback_and_host_name(self):
        talk = "import socket; s = socket.create_server(('127.0.0.1', 0)); socket.create_connection(s.getsockname()); print(socket.gethostname())"
        self.assert_output(lab.run("/usr/bin/python3", "-S", "-c", talk), "opteron-4x2\n")


if __name__ == "__main__":
    unittest.main()
