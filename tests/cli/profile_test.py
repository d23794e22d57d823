# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise profile` here: what it sees of programs of many kinds, and that it leaves them as they are.

Advice needs several nodes: that is tested in the lab (tests/lab) and on values (tests/unit/advise).
"""

import ctypes
import json
import os
import re
import signal
import socket
import subprocess
import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from command import (
    COMMAND,
    DENY,
    PATIENCE,
    CommandTest,
    conforms,
    environment,
    handles,
    nodewise,
    small_faults,
    wait_until,
)
from profile_programs import Programs

MIB = 1 << 20
ROOT_USER = os.geteuid() == 0
NODES = len(list(Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1


# Of page faults, where they are asked for.
SAMPLES = 1000


def counters_of(process):
    """Events of the kernel that a process has open."""
    links = []
    for each in Path(f"/proc/{process.pid}/fd").iterdir():
        try:
            links.append(os.readlink(each))
        except FileNotFoundError:
            pass  # closed meanwhile
    return sum("perf_event" in link for link in links)


def without_huge_pages():
    """For this process and all that it starts: where the machine gives huge pages to everybody, a
    program has one page fault for 512 pages, and a profile has too few samples to name lines."""
    pr_set_thp_disable = 41  # linux/prctl.h
    libc = ctypes.CDLL(None, use_errno=True)
    if libc.prctl(pr_set_thp_disable, 1, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(PR_SET_THP_DISABLE)")


def setUpModule():
    global PROGRAMS
    without_huge_pages()
    PROGRAMS = Programs()
    unittest.addModuleCleanup(PROGRAMS.close)


def label(frame):
    if "line" in frame:
        return f"{Path(frame['file']).name}:{frame['line']}"
    return f"{frame['module']}+{frame['offset']}"


def label_in(chain, source):
    """The chain's first line of this source file."""
    return next((label(f) for f in chain if Path(f.get("file", "")).name == source), None)


class ProfileTest(CommandTest):
    def profile(self, code, *arguments, options=(), **more):
        """The profile of a program, and what was printed."""
        file = PROGRAMS.folder / "profile.json"
        file.unlink(missing_ok=True)
        done = self.expect(code, "profile", "-o", str(file), *options, "--", *arguments, **more)
        document = json.loads(file.read_text())
        self.assertIsNone(conforms(document, "profile-2"))
        return document, done

    def program(self, document, name):
        found = [p for p in document["programs"] if p["name"] == name]
        self.assertTrue(found, [p["name"] for p in document["programs"]])
        return found[-1]

    def object_made_at(self, program, line):
        source = line.split(":")[0]
        found = [o for o in program["objects"] if label_in(o["made_at"], source) == line]
        self.assertTrue(found, (line, [label_in(o["made_at"], source) for o in program["objects"]]))
        return found[0]

    def touch_lines(self, thing, source):
        return {label_in(t["where"], source) for t in thing["touches"]}

    def threads_of(self, thing):
        return {t["by"] for t in thing["touches"]}


class Languages(ProfileTest):
    def test_objects_of_c_with_their_lines_and_threads(self):
        document, done = self.profile(3, PROGRAMS.build("work.c"))
        self.assertEqual(done.stdout, "1 1 1\n")
        program = self.program(document, "work")
        self.assertEqual((program["end"], len(program["threads"])), ("exited", 2))
        a = self.object_made_at(program, PROGRAMS.line("work.c", "makes a"))
        b = self.object_made_at(program, PROGRAMS.line("work.c", "makes b"))
        field = next(o for o in program["objects"] if o.get("name") == "field")
        self.assertEqual((a["kind"], b["kind"], field["kind"]), ("heap", "heap", "static"))
        for thing, what in ((a, "touches a"), (b, "touches b"), (field, "touches field")):
            with self.subTest(what):
                self.assertGreaterEqual(thing["bytes"], 8 * MIB - 8192)  # of a static array whole pages
                self.assertIn(PROGRAMS.line("work.c", what), self.touch_lines(thing, "work.c"))
                self.assertGreaterEqual(sum(t["pages"] for t in thing["touches"]), 2000)
        self.assertEqual((self.threads_of(a), self.threads_of(b)), ({0, 1}, {0}))

    def test_constructors_of_cxx(self):
        document, _ = self.profile(0, PROGRAMS.build("cells.cpp"))
        program = self.program(document, "cells")
        for what in ("vector", "new"):
            with self.subTest(what):
                line = PROGRAMS.line("cells.cpp", what)
                made = self.object_made_at(program, line)
                self.assertEqual(made["bytes"] // MIB, 8)
                lines = self.touch_lines(made, "cells.cpp")
                constructor = next(n for n, text in enumerate((PROGRAMS.folder / "cells.cpp").read_text().splitlines(), 1)
                                   if "struct cell" in text)
                self.assertTrue(lines & {line, f"cells.cpp:{constructor}"}, lines)

    def test_allocate_of_fortran(self):
        document, _ = self.profile(0, PROGRAMS.build("numbers.f90"))
        made = self.object_made_at(self.program(document, "numbers"), PROGRAMS.line("numbers.f90", "makes x"))
        self.assertIn(PROGRAMS.line("numbers.f90", "touches x"), self.touch_lines(made, "numbers.f90"))

    def test_a_plug_in(self):
        plugin = PROGRAMS.build("plugin.c", "plugin.so", ("-shared", "-fPIC"))
        document, _ = self.profile(1, PROGRAMS.build("host.c"), plugin)
        made = self.object_made_at(self.program(document, "host"), PROGRAMS.line("plugin.c", "makes p"))
        self.assertIn(PROGRAMS.line("plugin.c", "touches p"), self.touch_lines(made, "plugin.c"))

    def test_of_a_stripped_program_there_are_offsets(self):
        document, _ = self.profile(3, PROGRAMS.build("work.c", "stripped", ("-s",)))
        program = self.program(document, "stripped")
        large = [o for o in program["objects"] if o["kind"] == "heap" and o["bytes"] >= 8 * MIB]
        self.assertEqual(len(large), 2)
        for each in large:
            self.assertTrue(any(re.fullmatch(r"stripped\+0x[0-9a-f]+", label(f)) for f in each["made_at"]), each["made_at"])
            self.assertTrue(any(f["module"] == "stripped" for t in each["touches"] for f in t["where"]))

    def test_a_static_program_is_said_to_have_no_agent(self):
        document, done = self.profile(3, PROGRAMS.build("work.c", "static", ("-static",)))
        self.assertEqual(done.stdout, "1 1 1\n")
        self.assertRegex(done.stderr, r"warning: profile: \S+ is statically linked")
        self.assertFalse(document["evidence"]["agent"])
        self.assertGreater(document["evidence"]["fault_samples"], 4000)

    def test_a_program_with_its_own_malloc(self):
        document, done = self.profile(1, PROGRAMS.build("own_malloc.c"))
        self.assertIn("overrides malloc", done.stderr)
        self.program(document, "own_malloc")

    def test_an_empty_program(self):
        document, done = self.profile(0, "/bin/true")
        self.assertEqual(done.stdout, "")
        self.assertEqual(self.program(document, "true")["end"], "exited")


class Processes(ProfileTest):
    def test_killed_by_a_signal(self):
        file = PROGRAMS.folder / "killed.json"
        done = nodewise("profile", "-o", str(file), "--", PROGRAMS.build("work.c"), "die")
        self.assertEqual((done.returncode, done.stdout), (-signal.SIGSEGV, "1 1 1\n"))
        program = self.program(json.loads(file.read_text()), "work")
        self.assertEqual(program["end"], "killed")
        a = self.object_made_at(program, PROGRAMS.line("work.c", "makes a"))
        self.assertIn(PROGRAMS.line("work.c", "touches a"), self.touch_lines(a, "work.c"))

    def test_a_shell_that_starts_programs(self):
        work = PROGRAMS.build("work.c")
        document, done = self.profile(4, "sh", "-c", f"{work}; {work} | cat; exit 4")
        self.assertEqual(done.stdout, "1 1 1\n" * 2)
        found = [p for p in document["programs"] if p["name"] == "work"]
        self.assertEqual(len(found), 2)
        for each in found:
            self.object_made_at(each, PROGRAMS.line("work.c", "makes a"))

    def test_a_program_that_becomes_another(self):
        document, done = self.profile(3, PROGRAMS.build("work.c"), "become")
        self.assertEqual(done.stdout, "1 1 1\n" * 2)
        found = [p for p in document["programs"] if p["name"] == "work"]
        self.assertEqual([p["end"] for p in found], ["replaced", "exited"])
        for each in found:
            self.assertIn(PROGRAMS.line("work.c", "touches b"),
                          self.touch_lines(self.object_made_at(each, PROGRAMS.line("work.c", "makes b")), "work.c"))

    def test_many_short_processes(self):
        script = "i=0; while [ $i -lt 60 ]; do /bin/true; i=$((i+1)); done; echo done"
        document, done = self.profile(0, "sh", "-c", script)
        self.assertEqual(done.stdout, "done\n")
        self.assertEqual(len([p for p in document["programs"] if p["name"] == "true"]), 60)

    def test_a_server_answers_as_before(self):
        clients = 40
        file = PROGRAMS.folder / "server.json"
        server = subprocess.Popen([COMMAND, "profile", "-q", "-o", str(file), "--", PROGRAMS.build("server.c"), str(clients)],
                                  stdout=subprocess.PIPE, text=True, env=environment())
        with server.stdout:
            port = int(server.stdout.readline())

            def ask(number):
                with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as line:
                    for turn in range(20):
                        text = f"{number}-{turn}-".encode() * 50
                        line.sendall(text)
                        heard = b""
                        while len(heard) < len(text):
                            heard += line.recv(4096)
                        if heard != text:
                            return False
                return True

            with ThreadPoolExecutor(8) as pool:
                self.assertTrue(all(pool.map(ask, range(clients))))
            self.assertEqual(server.wait(timeout=PATIENCE), 0)
        program = self.program(json.loads(file.read_text()), "server")
        self.assertEqual(len(program["threads"]), clients + 1)

    def test_signals_are_passed_on(self):
        script = "trap 'exit 9' USR1; echo ready; while :; do sleep 0.05; done"
        process = subprocess.Popen([COMMAND, "profile", "-q", "--", "sh", "-c", script], stdout=subprocess.PIPE, text=True)
        with process.stdout:
            self.assertEqual(process.stdout.readline(), "ready\n")
            process.send_signal(signal.SIGUSR1)
            self.assertEqual(process.wait(timeout=PATIENCE), 9)

    def test_a_program_that_cannot_be_started(self):
        self.assertIn("no-such-program", self.expect(127, "profile", "--", "no-such-program").stderr)
        self.expect(126, "profile", "--", "/etc/passwd")


class Ranks(ProfileTest):
    """As an MPI launcher starts them: each process is told its rank."""

    def test_each_writes_its_own_file_and_all_are_one_profile(self):
        files = [PROGRAMS.folder / f"prof-{rank}.json" for rank in range(2)]
        for rank, file in enumerate(files):
            told = environment(OMPI_COMM_WORLD_LOCAL_RANK=str(rank), OMPI_COMM_WORLD_LOCAL_SIZE="2")
            pattern = str(PROGRAMS.folder / "prof-%r.json")
            self.expect(3, "profile", "-q", "-o", pattern, "--", PROGRAMS.build("work.c"), env=told)
            document = json.loads(file.read_text())
            self.assertIsNone(conforms(document, "profile-2"))
            self.assertEqual([p["rank"] for p in document["programs"] if "rank" in p], [rank])
        whole = PROGRAMS.folder / "whole.json"
        self.expect(0, "profile", "-q", "-o", str(whole), *map(str, files))
        document = json.loads(whole.read_text())
        self.assertEqual([p["rank"] for p in document["programs"] if "rank" in p], [0, 1])

    def test_outside_mpi_there_is_no_rank(self):
        document, _ = self.profile(3, PROGRAMS.build("work.c"))
        self.assertNotIn("rank", self.program(document, "work"))


class Running(ProfileTest):
    """-p: threads, first touches and the memory map of a process that runs."""

    def setUp(self):
        self.target = subprocess.Popen([PROGRAMS.build("work.c"), "wait"], stdout=subprocess.PIPE, text=True)
        self.target.stdout.readline()
        self.addCleanup(self.end)
        self.file = PROGRAMS.folder / "running.json"
        self.file.unlink(missing_ok=True)

    def end(self):
        self.target.kill()
        self.target.wait()
        self.target.stdout.close()

    def check(self, touches=True):
        document = json.loads(self.file.read_text())
        self.assertIsNone(conforms(document, "profile-2"))
        program = self.program(document, "work")
        self.assertEqual((program["end"], document["evidence"]["agent"]), ("running", False))
        field = next(o for o in program["objects"] if o.get("name") == "field")
        self.assertEqual((field["kind"], field["resident"] >= 1000), ("static", True))
        self.assertEqual({w.split("@")[1] for w in field["where"].split()} - {str(n) for n in range(NODES)}, set())
        self.assertIn("stack", {o["kind"] for o in program["objects"]})
        if touches:
            self.assertIn(PROGRAMS.line("work.c", "touches a"), self.touch_lines(field, "work.c"))
            self.assertGreater(self.samples(), SAMPLES)
        return document

    def samples(self):
        return json.loads(self.file.read_text())["evidence"]["fault_samples"]

    def wait_until_heard(self, watching):
        """Until the target is watched, and has had many more faults than samples are asked for."""
        wait_until(lambda: handles(watching, signal.SIGINT) and counters_of(watching) > 0, "it watches")
        before = small_faults(self.target)
        wait_until(lambda: small_faults(self.target) > before + 5 * SAMPLES, "the target's page faults")

    def test_for_a_time(self):
        # The target touches a thousand pages in each of its rounds, and waits for a processor in between.
        seconds, done = 1, None
        while done is None or (self.samples() <= SAMPLES and seconds < PATIENCE):
            done = self.expect(0, "profile", "-o", str(self.file), "-p", str(self.target.pid), "--duration", str(seconds))
            seconds *= 2
        self.check()
        self.assertIn("field", done.stdout)
        self.assertIsNone(self.target.poll(), "it goes on")

    def test_as_json_with_pages_by_node(self):
        result = self.expect_json(0, "profile", "--json", "-p", str(self.target.pid), "--duration", "0.2")
        self.assertIsNone(conforms(result, "advice-2"))
        field = next(o for o in result["objects"] if o["name"] == "field")
        self.assertAlmostEqual(sum(n["share"] for n in field["nodes"]), 1)

    def test_ctrl_c_keeps_what_was_heard(self):
        watching = subprocess.Popen([COMMAND, "profile", "-o", str(self.file), "-p", str(self.target.pid)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.wait_until_heard(watching)
        watching.send_signal(signal.SIGINT)
        out, said = watching.communicate(timeout=PATIENCE)
        self.assertEqual(watching.returncode, 0, said)
        self.assertIn("field", out)
        self.check()

    def test_it_may_end_meanwhile(self):
        watching = subprocess.Popen([COMMAND, "profile", "-o", str(self.file), "-p", str(self.target.pid)],
                                    stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment())
        self.wait_until_heard(watching)
        self.target.kill()
        out, said = watching.communicate(timeout=PATIENCE)
        self.assertEqual(watching.returncode, 0, said)
        self.assertIn("it ended while it was watched", out)

    def test_where_sampling_is_refused_there_is_its_memory(self):
        arguments = ("profile", "-o", str(self.file), "-p", str(self.target.pid), "--duration", "0.2")
        done = self.expect(0, *arguments, before=(DENY, "perf_event_open", "EACCES", "--"))
        self.assertIn("EACCES", done.stdout)
        self.check(touches=False)
        self.expect(4, *arguments, "--strict", before=(DENY, "perf_event_open", "EACCES", "--"))

    def test_there_is_none(self):
        self.assertIn("there is no such process", self.expect(2, "profile", "-p", "4194304").stderr)
        self.expect(2, "profile", "-p", "nobody")
        self.expect(2, "profile", "-p", str(self.target.pid), "--duration", "long")

    @unittest.skipUnless(ROOT_USER, "only root can become somebody else")
    def test_somebody_else_s(self):
        done = nodewise("profile", "-p", str(self.target.pid), "--duration", "0.2", user=65534, group=65534, extra_groups=[])
        self.assertEqual(done.returncode, 4, done.stderr)
        self.assertIn("belongs to root", done.stderr)


class Refused(ProfileTest):
    def test_without_samples_the_agent_tracees_and_the_reason_is_told(self):
        for errno in ("EACCES", "ENOSYS"):
            with self.subTest(errno):
                document, done = self.profile(3, PROGRAMS.build("work.c"), before=(DENY, "perf_event_open", errno, "--"))
                self.assertEqual(done.stdout, "1 1 1\n")
                self.assertIn(errno, done.stderr)
                self.assertFalse(document["evidence"]["faults"])
                made = [o["made_at"][0]["module"] for o in self.program(document, "work")["objects"] if o["kind"] == "heap"]
                self.assertEqual(made, ["work", "work"])

    def test_strict_starts_nothing(self):
        done = self.expect(4, "profile", "--strict", "--", "echo", "started",
                           before=(DENY, "perf_event_open", "EACCES", "--"))
        self.assertEqual(done.stdout, "")

    def test_too_few_files_may_be_open(self):
        done = self.expect(0, "profile", "--", "echo", "started", before=("prlimit", "--nofile=12:12"))
        self.assertEqual(done.stdout, "started\n")

    @unittest.skipUnless(ROOT_USER, "only root can become somebody else")
    def test_an_ordinary_user(self):
        done = nodewise("profile", "--", PROGRAMS.build("work.c"), user=65534, group=65534, extra_groups=[], cwd="/tmp")
        self.assertEqual((done.returncode, done.stdout), (3, "1 1 1\n"), done.stderr)
        self.assertIn(PROGRAMS.line("work.c", "makes a"), done.stderr)


if __name__ == "__main__":
    unittest.main()
