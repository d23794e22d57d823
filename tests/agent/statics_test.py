# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Static arrays under the agent: which are found, under which names, and what cannot hurt."""

import os
import pathlib
import random
import shutil
import struct
import subprocess
import tempfile
import unittest

import agent_report
from agent_report import PARTLY_GONE, PLACED, STATIC
from threads_test import AGENT, PROGRAMS, reported

PAGE = os.sysconf("SC_PAGESIZE")
BLOCKED = "owners=0*4;default=blocked"


def names(report):
    return sorted(each.name for each in report.objects if each.kind == STATIC)


def symbols(file):
    """Name -> (address, bytes) of the zero-initialised data symbols, by nm."""
    listed = subprocess.run(["nm", "-S", str(file)], capture_output=True, text=True, check=True).stdout
    fields = (line.split() for line in listed.splitlines())
    return {f[3]: (int(f[0], 16), int(f[1], 16)) for f in fields if len(f) == 4 and f[2] in "bB"}


class Found(unittest.TestCase):
    def test_large_arrays_of_the_program_by_their_symbols(self):
        for settings in (BLOCKED, BLOCKED + ";observe"):
            with self.subTest(settings=settings):
                output, report = reported([PROGRAMS / "static_arrays", 1], settings)
                local = next(name for name in symbols(PROGRAMS / "static_arrays") if "local" in name.split("."))
                self.assertEqual(names(report), sorted(["exported", "hidden", local]))
                pages = {name: int(count) for name, count, _ in map(str.split, output.splitlines())}
                for name, symbol in (("exported", "exported"), ("hidden", "hidden"), ("local", local)):
                    found = report.static(symbol)
                    self.assertEqual((found.pages, found.resident), (pages[name], pages[name]))
                    self.assertEqual(bool(found.flags & PLACED), "observe" not in settings)
                self.assertEqual(report.ends[0].stripped, 0)

    def test_whole_pages_inside_the_symbol(self):
        _, report = reported([PROGRAMS / "static_arrays", 1], BLOCKED)
        known = symbols(PROGRAMS / "static_arrays")
        for each in report.objects:
            if each.kind == STATIC:
                start, size = known[each.name]
                self.assertEqual(each.bytes, (start + size) // PAGE * PAGE - -(-start // PAGE) * PAGE)

    def test_small_ones_if_a_rule_asks_for_them(self):
        rule = "rule=kind=static,least=65536,symbol=small:blocked;"
        _, report = reported([PROGRAMS / "static_arrays", 1], "owners=0*4;" + rule + "default=none")
        self.assertEqual(report.static("small").rule, 0)
        self.assertTrue(report.static("small").flags & PLACED)
        self.assertFalse(report.static("hidden").flags & PLACED)

    @unittest.skipUnless((PROGRAMS / "static_common").exists(), "no Fortran compiler, or C is not GCC's")
    def test_common_blocks_and_module_arrays_of_fortran(self):
        _, report = reported([PROGRAMS / "static_common", 1], BLOCKED)
        self.assertEqual(names(report), ["__fields_MOD_density", "several_", "single_"])
        self.assertGreater(report.static("several_").pages, 2 * report.static("single_").pages - 2)

    def test_a_plugin_each_time_it_is_loaded(self):
        plugin = PROGRAMS / "static_plugin.so"
        output, report = reported([PROGRAMS / "plugin_host", 1, 3, plugin], BLOCKED)
        self.assertEqual(len(output.splitlines()), 3)
        self.assertEqual(names(report), ["plugin_field"] * 3)
        for each in report.objects:
            self.assertEqual(each.flags & (PLACED | PARTLY_GONE), PLACED | PARTLY_GONE)

    @unittest.skipUnless((PROGRAMS / "openmp_plugin.so").exists(), "built by another compiler than GCC")
    def test_a_plugin_that_brings_a_runtime_the_program_cannot_see(self):
        plugins = [PROGRAMS / "openmp_plugin.so", PROGRAMS / "static_plugin.so"]
        output, report = reported([PROGRAMS / "plugin_host", 1, 2, *plugins], BLOCKED)
        self.assertEqual(len(output.splitlines()), 4)
        self.assertEqual(names(report), ["plugin_field"] * 4)

    def test_a_process_and_its_child_each_tell_their_own(self):
        script = f"{PROGRAMS}/static_arrays 1; exec {PROGRAMS}/static_arrays 1"
        _, report = reported(["sh", "-c", script], BLOCKED)
        by_pid = {pid: names(report.of(pid)) for pid in {each.pid for each in report.objects}}
        self.assertEqual([len(found) for found in by_pid.values()], [3, 3])


class Stripped(unittest.TestCase):
    def test_is_counted_and_left_alone(self):
        with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
            copy = pathlib.Path(folder) / "stripped"
            subprocess.run(["strip", "-o", copy, PROGRAMS / "static_arrays"], check=True)
            output, report = reported([copy, 1], BLOCKED)
            self.assertEqual((names(report), report.ends[0].stripped), ([], 1))
            self.assertEqual(len(output.splitlines()), 3)

    def test_a_library_still_names_what_it_exports(self):
        with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
            copy = pathlib.Path(folder) / "plugin.so"
            subprocess.run(["strip", "-o", copy, PROGRAMS / "static_plugin.so"], check=True)
            _, report = reported([PROGRAMS / "plugin_host", 1, 1, copy], BLOCKED)
            self.assertEqual((names(report), report.ends[0].stripped), (["plugin_field"], 0))

    def test_started_by_the_loader(self):
        loader = subprocess.run(["readelf", "-p", ".interp", str(PROGRAMS / "static_arrays")], check=True,
                                capture_output=True, text=True).stdout.split()[-1]
        _, report = reported([loader, PROGRAMS / "static_arrays", 1], BLOCKED)
        self.assertEqual((len(names(report)), report.ends[0].stripped), (3, 0))


class Damaged(unittest.TestCase):
    """The kernel reads program headers only, so a program with nonsense in its sections runs."""

    def variants(self, data):
        sections, = struct.unpack_from("<Q", data, 40)
        numbers = random.Random(7)
        yield data[:sections]
        yield data[:sections + 100]
        for offset in (40, 58, 60, 62):  # where the sections are, their size, how many, their names
            for value in (0, 1, 0xFFFF):
                yield data[:offset] + struct.pack("<H", value) + data[offset + 2:]
        yield data[:40] + b"\xff" * 8 + data[48:]
        for _ in range(120):
            damaged = bytearray(data)
            for _ in range(numbers.choice((1, 4, 40))):
                at = numbers.randrange(sections, len(data))
                damaged[at] = numbers.choice((0, 255, 127, numbers.randrange(256)))
            yield bytes(damaged)
        for _ in range(40):  # the tables of symbols and names, which are in front of the sections
            damaged = bytearray(data)
            for _ in range(60):
                damaged[numbers.randrange(sections - 3000, sections)] = numbers.randrange(256)
            yield bytes(damaged)

    def test_sections_cannot_hurt_the_program(self):
        data = (PROGRAMS / "static_arrays").read_bytes()
        with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
            program = pathlib.Path(folder) / "static_arrays"
            count = 0
            for variant in self.variants(data):
                program.unlink(missing_ok=True)
                program.write_bytes(variant)
                program.chmod(0o755)
                output, report = reported([program, 1], BLOCKED)
                self.assertEqual(len(output.splitlines()), 3)
                self.assertEqual(len(report.ends), 1)
                count += 1
            self.assertGreater(count, 150)

    def test_a_newer_file_of_the_same_name_is_not_believed(self):
        with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
            plugin = pathlib.Path(folder) / "plugin.so"
            shutil.copy(PROGRAMS / "static_plugin.so", plugin)
            code = ("import ctypes, os, shutil, sys, threading\n"
                    "loaded = ctypes.CDLL(sys.argv[1])\n"
                    "os.unlink(sys.argv[1]); shutil.copy(sys.argv[2], sys.argv[1])\n"
                    "t = threading.Thread(target=loaded.plugin_threads); t.start(); t.join()\n")
            _, report = reported(["/usr/bin/python3", "-c", code, plugin, AGENT], BLOCKED)
            self.assertEqual((names(report), report.ends[0].stripped), ([], 1))


if __name__ == "__main__":
    unittest.main()
