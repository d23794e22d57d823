# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Programs behave under the agent as without it: our torture of malloc, and programs of the system."""

import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import agent_report

BUILD = pathlib.Path(os.environ["NODEWISE_BUILD"])
AGENT = BUILD / "lib/nodewise/libnodewise-agent.so"
PROGRAMS = BUILD / "tests/agent"
DENY = BUILD / "tests/deny"
ACCEPTANCE = pathlib.Path(__file__).with_name("acceptance.py")


def nodes():
    return len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1


def owners(count=4):
    """So many owners on each node of this machine: with several nodes, blocks on several nodes."""
    return ",".join(f"{node}*{count}" for node in range(nodes()))


def run(command, settings=None, **options):
    env = dict(os.environ)
    if settings is not None:
        env |= {"LD_PRELOAD": str(AGENT), "NODEWISE_AGENT": settings}
    return subprocess.run([str(word) for word in command], env=env, capture_output=True, timeout=580, check=False, **options)


class Torture(unittest.TestCase):
    def check(self, command, report=False):
        with tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
            agent_report.reserve(file.name)
            settings = f"v3;threshold=1048576;group=256;owners={owners()};default=blocked"
            done = run(command, settings + (f";report={file.name}" if report else ""))
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"ok\n", b""))
            (self.assertGreater if report else self.assertEqual)(agent_report.used(file.name), 0)

    def test_the_programs_hold_without_the_agent(self):
        for name in ("malloc_family", "threads", "many"):
            self.assertEqual(run([PROGRAMS / name]).stdout, b"ok\n")

    def test_malloc_and_its_relatives_keep_their_promises(self):
        self.check([PROGRAMS / "malloc_family"])
        self.check([PROGRAMS / "malloc_family"], report=True)

    def test_threads_allocate_and_free_while_children_are_forked(self):
        self.check([PROGRAMS / "threads"])
        self.check([PROGRAMS / "threads"], report=True)

    def test_fork_vfork_exec_and_plugins(self):
        self.check([PROGRAMS / "processes", PROGRAMS / "plugin.so"])
        self.check([PROGRAMS / "processes", PROGRAMS / "plugin.so"], report=True)

    def test_many_objects_come_and_go_without_a_trace(self):
        self.check([PROGRAMS / "many"])
        self.check([PROGRAMS / "many"], report=True)

    def test_blocks_of_several_places_do_not_share_sets_of_the_caches(self):
        settings = f"v3;threshold=1048576;group=256;owners={owners()};default=blocked"
        lines, pages = map(int, run([PROGRAMS / "sites"], settings).stdout.split())
        self.assertGreaterEqual(lines, 12)
        self.assertGreaterEqual(pages, 12)

    def test_a_group_is_not_reported_while_it_is_placed(self):
        with tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
            agent_report.reserve(file.name)
            settings = f"v3;threshold=1048576;group=256;owners={owners()};default=blocked;report={file.name}"
            done = run([PROGRAMS / "settling", file.name], settings)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"ok\n", b""))

    def test_pages_are_on_the_nodes_of_their_owners(self):
        for mib in (1, 7, 64, 96):
            with self.subTest(mib=mib, nodes=nodes()):
                done = run([PROGRAMS / "placed", nodes(), mib], f"v3;threshold=1048576;owners={owners(3)};default=blocked")
                self.assertEqual((done.returncode, done.stderr), (0, b""))


class Degraded(unittest.TestCase):
    """What goes wrong is said on one line, and the program runs on."""

    def expect_line(self, done, pattern):
        self.assertEqual((done.returncode, done.stdout), (0, b"ok\n"))
        self.assertRegex(done.stderr.decode(), r"\A" + pattern + r"\n\Z")

    def test_settings_that_make_no_sense(self):
        for settings in ("v2;threshold=1", "v3;nonsense", "", "v3;threshold=1048576;owners=0*4;quiet=2"):
            done = run([PROGRAMS / "malloc_family"], settings)
            self.expect_line(done, r"nodewise: nothing is placed: .* in NODEWISE_AGENT")

    def test_no_settings_no_effect(self):
        done = subprocess.run([PROGRAMS / "malloc_family"], env=os.environ | {"LD_PRELOAD": str(AGENT)},
                              capture_output=True, timeout=580, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"ok\n", b""))

    def test_a_node_that_is_not_there(self):
        done = run([PROGRAMS / "malloc_family"], "v3;threshold=1048576;owners=1023;default=blocked")
        self.expect_line(done, r"nodewise: malloc_family\[\d+\]: (\d+) of \1 large objects not placed: mbind failed: "
                               r"EINVAL \(.*\); .*")
        done = run([PROGRAMS / "malloc_family"], "v3;threshold=1048576;owners=1023;default=blocked;quiet")
        self.assertEqual((done.stdout, done.stderr), (b"ok\n", b""))

    def test_mbind_forbidden(self):
        settings = f"v3;threshold=1048576;group=256;owners={owners()};default=blocked"
        done = run([DENY, "mbind", "EPERM", "--", "env", f"LD_PRELOAD={AGENT}", f"NODEWISE_AGENT={settings}",
                    PROGRAMS / "malloc_family"])
        self.expect_line(done, r"nodewise: malloc_family\[\d+\]: .* mbind failed: EPERM .*")

    def test_a_program_with_its_own_malloc(self):
        done = run([PROGRAMS / "own_malloc"], "v3;threshold=1048576;owners=0;default=blocked")
        self.expect_line(done, r"nodewise: nothing is placed: own_malloc overrides malloc")

    def test_a_report_that_cannot_be_written_harms_nobody(self):
        for report in ("/dev/full", "/nonexistent/report", "/"):
            done = run([PROGRAMS / "processes", PROGRAMS / "plugin.so"],
                       f"v3;threshold=1048576;owners=0;default=blocked;report={report}")
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"ok\n", b""))

    def test_little_address_space(self):
        command = ["bash", "-c", f"ulimit -v 200000; exec {PROGRAMS}/placed 1 100"]
        done = run(command, f"v3;threshold=1048576;owners={'0*4' if nodes() == 1 else '0'};default=blocked")
        self.assertEqual((done.returncode, done.stdout), (0, b"ok\n"))


PYTHON = """
import hashlib, threading
def work(seed):
    data = bytearray((i * seed) & 255 for i in range(3_000_000))
    digests.append(hashlib.sha256(bytes(data) * 4).hexdigest())
digests = []
threads = [threading.Thread(target=work, args=(s,)) for s in range(1, 4)]
[t.start() for t in threads]; [t.join() for t in threads]
big = {i: str(i) * 10 for i in range(300_000)}
print(sorted(digests), hash(tuple(sorted(big))), len("x" * 50_000_000))
"""

GIT = """
set -e
cd "$1"
export GIT_AUTHOR_DATE='2020-01-01T00:00:00Z' GIT_COMMITTER_DATE='2020-01-01T00:00:00Z' HOME="$1"
git init -q r; cd r
git config user.name n; git config user.email e@x
seq 1 300000 > numbers; git add numbers; git commit -qm one
sed -i 's,77$,seven,' numbers; git commit -qam two
git gc -q --aggressive; git fsck --full 2>&1; git log -p --stat | sha256sum; git rev-parse HEAD
"""

FILTERS = r"""
for i in 1 2 3; do echo "$i $(seq $((i * 20000)) | tr '\n' ' ' | wc -c)"; done
x=$(seq 1 300000); echo ${#x}; ( exit 3 ) || echo failed $?
seq 1 60000 | awk '{ a[$1 % 7] += $1; if ($1 % 10 == 0) s = s $1 } END { for (k in a) print k, a[k]; print length(s) }' | sort
seq 1 100000 | xargs -n 2000 echo | md5sum; printf '%s\n' b a c | tee >(cat >/dev/null) | tac
"""


class SystemPrograms(unittest.TestCase):
    """The same bytes with and without the agent, children included."""

    def same(self, make_command, **options):
        outputs = []
        for settings in (None, f"v3;threshold=65536;group=256;owners={owners()};default=blocked",
                         f"v3;threshold=65536;group=64;default=cyclic@65536@{owners()}"):
            with tempfile.TemporaryDirectory(prefix="nodewise-") as folder:
                done = run(make_command(folder), settings, **options)
                self.assertEqual(done.returncode, 0, done.stderr)
                outputs.append((re.sub(folder.encode(), b"", done.stdout), done.stderr))
        self.assertEqual(outputs[0], outputs[1])
        self.assertEqual(outputs[0], outputs[2])
        self.assertNotEqual(outputs[0][0], b"")

    def test_python(self):
        self.same(lambda _: [sys.executable, "-c", PYTHON])

    def test_sort(self):
        numbers = "\n".join(str(i * 7919 % 1_000_003) for i in range(600_000)).encode()
        self.same(lambda _: ["sort", "-n", "--parallel=4"], input=numbers)

    def test_shell_and_filters(self):
        self.same(lambda _: ["bash", "-c", FILTERS])

    @unittest.skipUnless(shutil.which("git"), "git is not installed")
    def test_git(self):
        self.same(lambda folder: ["bash", "-c", GIT, "git", folder])

    @unittest.skipUnless(shutil.which("c++"), "no compiler is installed")
    def test_compiler(self):
        source = b"#include <map>\n#include <regex>\nint f() { std::regex r(\"a+\"); return std::map<int,int>{}.size(); }"
        self.same(lambda _: ["c++", "-O2", "-S", "-x", "c++", "-", "-o", "-"], input=source)


class RandomOperations(unittest.TestCase):
    """A million operations of malloc, new and mmap on four threads, forks among them."""

    def check(self, settings):
        done = run([PROGRAMS / "torture", 1, 1_000_000], f"v3;threshold=65536;group=64;{settings}")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"ok\n", b""))

    def test_the_program_holds_without_the_agent(self):
        self.assertEqual(run([PROGRAMS / "torture", 1, 50_000]).stdout, b"ok\n")

    def test_blocked(self):
        self.check(f"owners={owners()};default=blocked")

    def test_cyclic(self):
        self.check(f"default=cyclic@65536@{owners()}")


def library(name):
    """The path by which the loader finds it; a test that needs it fails where it is missing."""
    listed = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=True).stdout
    (path, *_) = [line.split(" => ")[1] for line in listed.splitlines() if line.split()[0] == name]
    return path


class Acceptance(unittest.TestCase):
    """All that programs show (acceptance.py), with and without the agent, over three allocators."""

    SCALE = 10
    SETTINGS = (f"v3;threshold=65536;group=64;owners={owners()};default=blocked",
                f"v3;threshold=1048576;default=cyclic@65536@{owners()}")
    NAMES = ["python", "sort", "xz", "gcc", "sqlite", "redis", "habits", "plugins", "torture"]

    def shown(self, names, preloaded=(), settings=None, report=None):
        env = dict(os.environ)
        if preloaded:
            env["LD_PRELOAD"] = ":".join(map(str, preloaded))
        if settings is not None:
            env["NODEWISE_AGENT"] = settings + (f";report={report}" if report else "")
        done = subprocess.run([sys.executable, ACCEPTANCE, PROGRAMS, str(self.SCALE), *names], env=env,
                              capture_output=True, text=True, timeout=580, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def check(self, names, behind=(), allocator=""):
        """With `behind` preloaded, too: the same as without the agent, which was at work."""
        plain = self.shown(names, behind)
        for settings in self.SETTINGS:
            with self.subTest(settings), tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
                agent_report.reserve(file.name, 64 << 20)
                self.assertEqual(self.shown(names, (AGENT, *behind), settings, file.name), plain)
                report = agent_report.read(pathlib.Path(file.name).read_bytes())
                self.check_at_work(report, names)
                self.assertEqual({start.allocator for start in report.starts if start.program == "python3"},
                                 {allocator})

    def check_at_work(self, report, names):
        programs = {start.pid: start.program for start in report.starts}
        placed = {programs[each.pid] for each in report.objects if each.flags & agent_report.PLACED}
        of_name = {"gcc": "cc1", "sqlite": "sqlite3", "redis": "redis-server", "plugins": "cxx_plugin_host"}
        wanted = {of_name.get(name, name if name != "python" else "python3") for name in names}
        self.assertLessEqual(wanted, placed)

    def test_with_the_c_library(self):
        self.check([*self.NAMES, "own_operators"])

    def test_with_jemalloc_behind(self):
        self.check(self.NAMES, [library("libjemalloc.so.2")], "libjemalloc.so.2")

    def test_with_tcmalloc_behind(self):
        self.check(self.NAMES, [library("libtcmalloc_minimal.so.4")], "libtcmalloc_minimal.so.4")

    def test_an_allocator_in_front_keeps_everything(self):
        for name in ("libjemalloc.so.2", "libtcmalloc_minimal.so.4"):
            with self.subTest(name):
                first = library(name)
                names = ["python", "sort", "sqlite", "habits", "plugins", "torture"]
                self.assertEqual(self.shown(names, [first, AGENT], self.SETTINGS[0] + ";quiet"),
                                 self.shown(names, [first]))

    def test_redis_brings_its_own_allocator_and_writes_over_its_environment(self):
        with tempfile.NamedTemporaryFile(prefix="nodewise-report-") as file:
            agent_report.reserve(file.name)
            self.shown(["redis"], [AGENT], self.SETTINGS[0], file.name)
            report = agent_report.read(pathlib.Path(file.name).read_bytes())
            (server, *_) = [each for each in report.starts if each.program == "redis-server"]
            self.assertEqual((server.allocator, server.foreign_malloc), ("libjemalloc.so.2", 0))
            self.assertEqual(len(report.of(server.pid).ends), 1)


if __name__ == "__main__":
    unittest.main()
