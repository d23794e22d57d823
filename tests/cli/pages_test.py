# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise pages` here: processes that know their own pages, programs to start, errors.

Where pages are on several nodes is tested in the lab (tests/lab/pages_test.py).
"""

import csv
import json
import os
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

from command import BUILD, COMMAND, DENY, PATIENCE, ROOT, CommandTest, conforms, environment, nodewise, wait_until

# Maps 512 pages: 0-99 written, 100-149 only read, 200-299 every other one written; then a huge page.
TARGET = r"""
import ctypes, mmap, os, sys
m = mmap.mmap(-1, 512 * 4096, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)
address = ctypes.addressof(ctypes.c_char.from_buffer(m))
ctypes.CDLL(None).madvise(ctypes.c_void_p(address), ctypes.c_size_t(len(m)), 15)  # MADV_NOHUGEPAGE
for page in range(100): m[page * 4096] = 1
total = sum(m[page * 4096] for page in range(100, 150))
for page in range(200, 300, 2): m[page * 4096] = 1
print(hex(address), flush=True)
sys.stdin.read()
"""
EXPECTED = ["present"] * 100 + ["zero"] * 50 + ["absent"] * 50 + ["present", "absent"] * 50 + ["absent"] * 212
PYTHON = "/usr/bin/python3"
ROOT_USER = os.geteuid() == 0


class Target:
    """A process with known pages, as long as it is wanted."""

    def __enter__(self):
        self.process = subprocess.Popen([PYTHON, "-c", TARGET], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.address = int(self.process.stdout.readline(), 16)
        self.pid = str(self.process.pid)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.communicate()

    def pages(self, process):
        """What a result says of the known pages."""
        found = {}
        for area in process["areas"]:
            start = int(area["start"], 16)
            for first, pages, node, *_ in area["runs"]:
                for page in range(first, first + pages):
                    found[start + page * 4096] = node
        return [found[self.address + i * 4096] for i in range(512)]


def present_or(node):
    return "present" if isinstance(node, int) else node


class Processes(CommandTest):
    def result(self, *arguments, **options):
        document = self.expect_json(0, "pages", "--json", *arguments, **options)
        self.assertIsNone(conforms(document, "pages-1"))
        return document["samples"][-1]["processes"]

    def test_present_absent_and_zero_pages_are_told_apart_by_every_method(self):
        methods = ["auto", "move_pages"] + (["pagemap"] if ROOT_USER else [])
        with Target() as target:
            for method in methods:
                with self.subTest(method):
                    process = self.result("--method", method, target.pid)[0]
                    self.assertEqual([present_or(node) for node in target.pages(process)], EXPECTED)
                    area = next(a for a in process["areas"] if int(a["start"], 16) <= target.address
                                < int(a["start"], 16) + a["bytes"])
                    self.assertEqual(area["zero"], 50)
                    if method != "auto":
                        self.assertEqual(process["method"], method)

    @unittest.skipUnless(ROOT_USER, "frame numbers are root's to see")
    def test_frame_numbers_and_move_pages_agree_on_every_page(self):
        with Target() as target:
            os.kill(target.process.pid, signal.SIGSTOP)
            by = [self.result("--method", method, target.pid)[0] for method in ("pagemap", "move_pages", "auto")]
            self.assertEqual([p["method"] for p in by[:2]], ["pagemap", "move_pages"])
            areas = [{a["start"]: [run[:3] for run in a["runs"]] for a in process["areas"]} for process in by]
            self.assertGreater(len(areas[0]), 20)
            self.assertEqual(areas[0], areas[1])
            self.assertEqual(areas[0], areas[2])

    def test_a_huge_page_is_one(self):
        script = ("import ctypes, mmap, sys\n"
                  "m = mmap.mmap(-1, 8 << 20)\n"
                  "m = mmap.mmap(-1, 8 << 20, flags=mmap.MAP_PRIVATE | mmap.MAP_ANONYMOUS)\n"
                  "m.madvise(mmap.MADV_HUGEPAGE)\n"
                  "m[:] = bytes(len(m))\nprint(1, flush=True)\nsys.stdin.read()")
        with subprocess.Popen([PYTHON, "-c", script], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as target:
            target.stdout.readline()
            smaps = Path(f"/proc/{target.pid}/smaps").read_text()
            expected = sum(int(kib) for kib in re.findall(r"AnonHugePages:\s+(\d+) kB", smaps)) * 1024
            process = self.result(str(target.pid))[0]
            self.assertEqual(sum(a["huge_bytes"] for a in process["areas"] if a["kind"] != "shared"), expected)
            target.kill()

    def test_refused_move_pages_is_told_and_no_page_is_on_node_0(self):
        with Target() as target:
            process = self.result(target.pid, "--method", "move_pages", before=(DENY, "move_pages", "EPERM", "--"))[0]
            self.assertEqual((process["method"], process["resolution"]), ("numa_maps", "reduced"))
            self.assertLessEqual(set(target.pages(process)), {"unknown", "absent"})
            text = self.expect(0, "pages", target.pid, "--method", "move_pages",
                               before=(DENY, "move_pages", "EPERM", "--")).stdout
            self.assertIn("resolution reduced", text)
            self.assertIn("EPERM", text)

    def test_totals_are_numastat_s(self):
        with Target() as target:
            os.kill(target.process.pid, signal.SIGSTOP)
            row = re.compile(r"^\s*(Huge|Heap|Stack|Private|Total)\s+([\d. ]+)$", re.M)
            mine = {m[1]: m[2].split() for m in row.finditer(self.expect(0, "pages", "--totals", target.pid).stdout)}
            theirs = subprocess.run(["numastat", "-p", target.pid], capture_output=True, text=True, check=True).stdout
            self.assertEqual(mine, {m[1]: m[2].split() for m in row.finditer(theirs)})
            self.assertEqual(len(mine), 5)

    def test_csv_of_several_processes_over_time(self):
        with Target() as one, Target() as other:
            text = self.expect(0, "pages", "--csv", "--interval", "0.05", "--count", "3", "-p", one.pid, other.pid).stdout
            rows = list(csv.DictReader(text.splitlines()))
            self.assertEqual({row["process"] for row in rows}, {one.pid, other.pid})
            self.assertEqual(len({row["time_s"] for row in rows}), 3)
            rss = sum(int(row["resident_bytes"]) for row in rows if row["process"] == one.pid) // 3
            # Of each mapping, as it is: VmRSS lacks what a processor has counted and not told yet. The vdso counts as a
            # mapping of the process in one and not in the other.
            kib = int(re.search(r"Rss:\s+(\d+)", Path(f"/proc/{one.pid}/smaps_rollup").read_text())[1])
            self.assertAlmostEqual(rss / 1024, kib, delta=16)

    def test_output_file_beside_the_text(self):
        with Target() as target, tempfile.TemporaryDirectory() as folder:
            text = self.expect(0, "pages", "-o", f"{folder}/pages.json", target.pid).stdout
            self.assertIn("numa_balancing", text)
            self.assertIsNone(conforms(json.loads(Path(folder, "pages.json").read_text()), "pages-1"))

    def test_all_lists_what_is_summed_up_otherwise(self):
        with Target() as target:
            short = self.expect(0, "pages", target.pid).stdout
            self.assertRegex(short, r"and \d+ mappings with less than 64 KiB")
            whole = self.expect(0, "pages", "--all", target.pid).stdout
            self.assertIn("[stack]", whole)
            self.assertNotIn("--all", whole)


class Agent(CommandTest):
    """Arrays that the agent knows have the name of the line that allocated them."""

    LIBRARY = BUILD / "tests/agent_view/libnodewise-agent.so"

    def look(self, has_begun, **variables):
        """What is seen of a program with the agent, once that has begun."""
        process = subprocess.Popen(["sleep", "100"], env=environment(LD_PRELOAD=str(self.LIBRARY), **variables))
        try:
            wait_until(lambda: Path(f"/proc/{process.pid}/comm").read_text() == "sleep\n", "it becomes sleep")
            found = {}

            def is_ready():
                # From its first instruction until its libraries have begun it may be asked too early.
                done = nodewise("pages", "--json", str(process.pid))
                found.update(json.loads(done.stdout)["samples"][0]["processes"][0] if done.returncode == 0 else {})
                return found and has_begun(found)

            wait_until(is_ready, f"what is wanted in {found}")
            return found
        finally:
            process.kill()
            process.wait()

    def test_an_array_is_named_by_the_line_that_allocated_it(self):
        source = (ROOT / "tests/support/agent_view.c").read_text().splitlines()
        line = next(i for i, text in enumerate(source, 1) if "is to name */" in text)
        def arrays_of(process):
            return [a for a in process["areas"] if a["kind"] == "array"]

        arrays = arrays_of(self.look(arrays_of))
        self.assertEqual([(a["name"], a["bytes"], a["resident"]) for a in arrays],
                         [(f"agent_view.c:{line}", 8 << 20, 1024)])

    def test_a_table_that_is_being_written_is_said_and_not_read(self):
        process = self.look(lambda seen: any("the agent's table" in note for note in seen["notes"]), AGENT_VIEW_BUSY="1")
        self.assertFalse([a for a in process["areas"] if a["kind"] == "array"])
        self.assertIn("the agent's table", process["notes"][0])


class Programs(CommandTest):
    def test_a_program_is_looked_at_before_it_ends_and_its_end_is_ours(self):
        done = self.expect(7, "pages", "--", "sh", "-c", "echo out; exit 7")
        self.assertEqual(done.stdout, "out\n")
        self.assertIn("sh -c echo out; exit 7", done.stderr)
        self.assertRegex(done.stderr, r"libc\.so\.6 +code ")

    def test_json_comes_after_the_program_s_output(self):
        done = self.expect(0, "pages", "--json", "--", "echo", "-n", "-n")
        document = json.loads(done.stdout)
        self.assertIsNone(conforms(document, "pages-1"))
        self.assertEqual(document["samples"][0]["processes"][0]["command"], "echo -n -n")

    def test_a_death_by_signal_is_ours(self):
        done = nodewise("pages", "--quiet", "--", "sh", "-c", "kill -TERM $$")
        self.assertEqual(done.returncode, -signal.SIGTERM)

    def test_signals_are_passed_on(self):
        script = "trap 'exit 9' USR1; echo ready; while :; do sleep 0.05; done"
        process = subprocess.Popen([COMMAND, "pages", "--quiet", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.stdout.readline(), "ready\n")
        process.send_signal(signal.SIGUSR1)
        self.assertEqual(process.wait(timeout=PATIENCE), 9)
        process.stdout.close()

    def test_arrays_of_a_program_are_all_there_at_its_end(self):
        script = ("import os, threading, time\n"
                  "array = bytearray(b'1' * (32 << 20))\n"
                  "for _ in range(3): threading.Thread(target=time.sleep, args=(100,)).start()\n"
                  "time.sleep(0.3)\nos._exit(5)")
        done = self.expect(5, "pages", "--json", "--", PYTHON, "-c", script)
        process = json.loads(done.stdout)["samples"][0]["processes"][0]
        self.assertEqual([a["resident"] // 8192 for a in process["areas"] if a["resident"] >= 4096], [1])
        self.assertEqual(len(process["threads"]), 4, "also those that were gone at the end")

    def test_at_a_time_of_its_run(self):
        # It ends once it has been looked at.
        command = [COMMAND, "pages", "--at", "0.2", "--", "sh", "-c", "read line; exit 3"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment()) as watch:
            for line in watch.stderr:
                if "(process " in line:
                    break
            else:
                self.fail("nobody looked at it")
            watch.stdin.close()
            watch.stderr.read()
            self.assertEqual(watch.wait(PATIENCE), 3)
        done = self.expect(0, "pages", "--at", "1000", "--", "true")
        self.assertIn("ended before", done.stderr)
        self.expect(1, "pages", "--strict", "--at", "1000", "--", "true")

    def test_a_program_that_cannot_be_started(self):
        self.assertIn("no-such-program", self.expect(127, "pages", "--", "no-such-program").stderr)
        self.expect(126, "pages", "--", "/etc/passwd")

    def test_a_program_over_time(self):
        # It ends once it has been looked at three times.
        command = [COMMAND, "pages", "--csv", "--interval", "0.1", "--", "sh", "-c", "read line; true"]
        with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment()) as watch:
            times = set()
            for row in csv.DictReader(watch.stdout):
                times.add(row["time_s"])
                if len(times) == 3:
                    break
            watch.stdin.close()
            watch.stdout.read()
            self.assertEqual((len(times), watch.wait(PATIENCE)), (3, 0))

    def test_where_nothing_may_be_traced_the_cure_is_named(self):
        done = self.expect(4, "pages", "--", "true", before=(DENY, "ptrace", "EPERM", "--"))
        self.assertIn("--at SECONDS", done.stderr)


class Watch(CommandTest):
    def test_into_a_pipe_it_repeats_plainly_until_the_process_ends(self):
        with Target() as target:
            watch = subprocess.Popen([COMMAND, "pages", "--watch=0.05", target.pid], stdout=subprocess.PIPE, text=True)
            out = ""
            while out.count(f"(process {target.pid})") < 2 and (line := watch.stdout.readline()):
                out += line
            target.process.kill()
            target.process.wait()
            out += watch.communicate(timeout=PATIENCE)[0]
            self.assertEqual(watch.returncode, 0)
            self.assertGreaterEqual(out.count(f"(process {target.pid})"), 2)
            self.assertNotIn("\x1b", out)

    def test_on_a_terminal_it_draws_in_place_and_q_ends_it(self):
        with Target() as target:
            pid, terminal = pty.fork()
            if pid == 0:
                os.execve(COMMAND, [COMMAND, "pages", "--watch=0.05", target.pid], environment())
            shown = b""
            until = time.monotonic() + PATIENCE
            while shown.count(b"\x1b[H") < 2 and time.monotonic() < until:
                if select.select([terminal], [], [], 0.1)[0]:
                    shown += os.read(terminal, 65536)
            os.write(terminal, b"q")
            try:
                while chunk := os.read(terminal, 65536):
                    shown += chunk
            except OSError:
                pass  # the other side is closed
            _, status = os.waitpid(pid, 0)
            os.close(terminal)
            self.assertEqual(status, 0)
            self.assertIn(b"\x1b[?1049h", shown)
            self.assertTrue(shown.endswith(b"\x1b[?1049l"), shown[-40:])
            self.assertIn(f"(process {target.pid})".encode(), shown)


class Errors(CommandTest):
    def test_what_makes_no_sense(self):
        for arguments in ((), ("1", "--", "true"), ("x",), ("-p", "0"), ("--json", "--csv", "1"), ("--at", "1", "1"),
                          ("--interval", "0", "1"), ("--migrate", "0", "-p", "1"), ("--migrate", "0:999", "-p", "1")):
            with self.subTest(arguments):
                self.assertIn("hint:", self.expect(2, "pages", *arguments).stderr)

    def test_no_such_process_and_kernel_threads(self):
        self.assertIn("no such process", self.expect(2, "pages", "4194304").stderr)
        self.assertIn("no such process", self.expect(2, "pages", "-p", "4194304", "--migrate", "0:0").stderr)
        kernel = next((p.name for p in Path("/proc").iterdir() if p.name.isdigit()
                       and "kthreadd" in (p / "stat").read_text()), None)
        if kernel is not None:  # a container shows none
            self.assertIn("kernel thread", self.expect(2, "pages", kernel).stderr)

    def test_a_process_that_has_ended_and_is_not_yet_collected(self):
        with subprocess.Popen(["true"]) as process:
            while "State:\tZ" not in Path(f"/proc/{process.pid}/status").read_text():
                time.sleep(0.01)
            self.assertIn("ended", self.expect(4, "pages", str(process.pid)).stderr)

    @unittest.skipUnless(ROOT_USER, "needs two users")
    def test_another_user_s_process_names_its_owner_and_the_cure(self):
        as_nobody = ("setpriv", "--reuid", "65534", "--clear-groups", "--")
        with Target() as target, tempfile.TemporaryDirectory() as folder:
            # The build may be in a home directory that nobody can enter.
            os.chmod(folder, 0o755)
            for part in ("bin", "libexec/nodewise"):
                shutil.copytree(BUILD / part, Path(folder) / part, ignore=shutil.ignore_patterns("lab"))
            ours = {"before": as_nobody, "command": f"{folder}/bin/nodewise", "cwd": folder}
            done = self.expect(4, "pages", target.pid, **ours)
            self.assertIn("belongs to root", done.stderr)
            self.assertIn("CAP_SYS_PTRACE", done.stderr)
            self.assertIn("EPERM", self.expect(4, "pages", "-p", target.pid, "--migrate", "0:0", **ours).stderr)

    def test_migrate_on_one_node_moves_nothing(self):
        with Target() as target:
            self.assertEqual(self.expect(0, "pages", "-p", target.pid, "--migrate", "0:0").stdout,
                             "0 pages could not be moved\n")


if __name__ == "__main__":
    unittest.main()
