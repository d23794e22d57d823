# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Promises of the C library and the kernel hold under the agent as without it."""

import os
import subprocess
import sys
import tempfile
import unittest

import agent_report
from programs_test import AGENT, PROGRAMS, library

PROMISES = PROGRAMS / "promises"
SETTINGS = ("v3;threshold=65536;group=64;owners=0*2,0*2;default=blocked",
            "v3;threshold=65536;group=64;default=cyclic@65536@0*2,0*2")
NO_USERFAULTFD = b"userfaultfd is not permitted\n"

LIMITS_ITSELF = """
import resource
small = [bytes(300) for _ in range(5000)]
resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))
large = bytearray(64 << 20)
print("ok")
"""


def run(command, preloaded=(), settings=None, env=None):
    """Exit code, output and errors. Who waits for ever is ended, and that fails the test."""
    env = os.environ | (env or {})
    if preloaded:
        env["LD_PRELOAD"] = ":".join(map(str, preloaded))
    if settings is not None:
        env["NODEWISE_AGENT"] = settings
    done = subprocess.run([str(word) for word in command], env=env, capture_output=True, timeout=300, check=False)
    return done.returncode, done.stdout, done.stderr


class Promises(unittest.TestCase):
    def check(self, command, front=(), behind=(), env=None, answers=(b"ok\n",)):
        """Shows without the agent one of `answers`, and with it the same."""
        plain = run(command, (*front, *behind), env=env)
        self.assertIn(plain, [(0, answer, b"") for answer in answers])
        for settings in SETTINGS:
            for report in (False, True):
                with self.subTest(settings=settings, report=report), \
                        tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
                    agent_report.reserve(file.name)
                    wanted = settings + (f";report={file.name}" if report else "")
                    self.assertEqual(run(command, (*front, AGENT, *behind), wanted, env), plain)
                    (self.assertGreater if report else self.assertEqual)(agent_report.used(file.name), 0)

    def test_a_program_whose_malloc_passes_on(self):
        self.check([PROGRAMS / "promises_passing", "blocks"])

    def test_a_library_in_front_whose_malloc_passes_on(self):
        self.check([PROMISES, "blocks"], front=[PROGRAMS / "passing_malloc.so"])

    def test_malloc_and_mmap_are_no_cancellation_points(self):
        self.check([PROMISES, "no_cancellation_point"])

    def test_handlers_of_fork_may_allocate(self):
        for place in ("front", "behind"):
            with self.subTest(place):
                self.check([PROMISES, "fork_handlers"], **{place: [PROGRAMS / "allocating_atfork.so"]})

    def test_a_read_only_mapping_grows(self):
        self.check([PROMISES, "growth_of_read_only"])

    def test_a_block_with_a_read_only_page_grows(self):
        self.check([PROMISES, "growth_of_read_only_block"])

    def test_a_new_mapping_has_no_pages_for_userfaultfd(self):
        self.check([PROMISES, "userfault"], answers=(b"ok\n", NO_USERFAULTFD))

    def test_a_child_without_its_parents_block(self):
        self.check([PROMISES, "dontfork"])

    def test_an_address_that_the_kernel_gives_out_again(self):
        self.check([PROMISES, "unmapped_by_the_kernel"])

    def test_a_plugin_that_waits_for_a_thread(self):
        for plugin in ("waiting_plugin.so", "waiting_plugin_cxx.so"):
            with self.subTest(plugin):
                self.check([PROMISES, "plugin", PROGRAMS / plugin])

    def test_dlerror_says_why_dlopen_failed(self):
        self.check([PROMISES, "reason_of_dlopen"])
        self.check([PROGRAMS / "reason_of_dlopen"])

    def test_a_signal_handler_maps_memory(self):
        self.check([PROMISES, "handler_maps"])

    def test_jemallocs_functions_know_a_block_of_malloc(self):
        self.check([PROMISES, "jemalloc"], behind=[library("libjemalloc.so.2")])

    def test_a_program_limits_its_address_space(self):
        self.check([sys.executable, "-c", LIMITS_ITSELF], env={"PYTHONMALLOC": "malloc"})


if __name__ == "__main__":
    unittest.main()
