# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the compiler says of calls that the library does not take: the library's own sentences."""

import os
import pathlib
import re
import subprocess
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = pathlib.Path(os.environ["NODEWISE_BUILD"])
BODY = "takes f(std::span<T>), f(std::size_t first, std::span<T>) or f(const nodewise::worker&"
# And for how many of the calls.
SAYS = {
    "the body of for_each_owned " + BODY: 2,
    "nodewise::owned_span(std::span(vector), distribution)": 3,
    "the body of reduce_owned " + BODY: 1,
    "the body of reduce_owned returns what combine": 1,
    "the body of on_each_node takes the node's team": 1,
    "the body of on_each_worker takes the worker": 1,
    "the body of run_tasks takes the group": 1,
    "a task is a function without parameters": 1,
}


def compiled(*options: str) -> subprocess.CompletedProcess[str]:
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fopenmp", "-fsyntax-only", *options,
               f"-I{ROOT / 'include'}", f"-I{BUILD / 'include'}", ROOT / "tests/consume/wrong_calls.cpp"]  # fmt: skip
    return subprocess.run(command, capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}, check=False)


class WrongCalls(unittest.TestCase):
    def test_right_calls_compile(self):
        done = compiled()
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_wrong_calls_are_explained(self):
        done = compiled("-DWRONG_CALLS")
        self.assertNotEqual(done.returncode, 0)
        errors = re.findall(r"^.*error: .*$", done.stderr, re.MULTILINE)
        for sentence, calls in SAYS.items():
            with self.subTest(sentence):
                self.assertGreaterEqual(sum(sentence in error for error in errors), calls, done.stderr)
        self.assertTrue(any(sentence in errors[0] for sentence in SAYS), errors[0])


if __name__ == "__main__":
    unittest.main()
