# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise warm` on four nodes: where a file's pages are, by the kernel's own list of a process that has mapped it."""

import json
import unittest

from lab import BUILD, ROOT, LabTest, shell

SIZE = 64 << 20
PAGES = SIZE >> 12
# A process that has mapped the file finds its pages where the cache has them.
LOOK = """
import mmap, re, sys
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    for at in range(0, len(pages), 4096):
        pages[at]
    for line in open("/proc/self/numa_maps"):
        if any(word.startswith("file=") and word.endswith("/" + sys.argv[1]) for word in line.split()):
            print("pages", *re.findall(r"N[0-9]+=[0-9]+", line))
            if len(sys.argv) > 2:
                open("mapped", "w").close()
                sys.stdin.read()
"""
BEGIN = f"""
set -e
export PATH={BUILD}/bin:$PATH
cat > look.py <<'END'
{LOOK}
END
"""
SCRIPT = f"""
{BEGIN}warm() {{ echo "== warm $*"; {BUILD}/bin/nodewise warm --json "$@" || echo "status $?"; }}
shown() {{ echo "== look"; /usr/bin/python3 look.py "$@"; }}
head -c {SIZE} /dev/urandom > file
sum=$(sha256sum < file)
sync file
exec 8< file # the file system of the working directory caches a file only while it is open
taskset -c 0 /usr/bin/python3 look.py file
echo "== look"
/usr/bin/python3 look.py file
warm --look --to blocked file
echo "== bound"
taskset -c 7 {BUILD}/bin/nodewise warm --look file | head -n 1
taskset -c 7 {BUILD}/bin/nodewise warm --look --readers 8 file | head -n 1
warm file
shown file
warm --strict --to interleave file
shown file
warm --to cyclic:1M:1,3 file
shown file
{BUILD}/bin/nodewise drop-cache --quiet file
warm --strict --to weighted:0=3,2=1 file
shown file
{BUILD}/bin/nodewise drop-cache --quiet file
warm --readers 3 file
shown file
warm --to node:2 file
mkfifo /dev/shm/hold
rm -f mapped # of an earlier test in this directory
/usr/bin/python3 look.py file stay < /dev/shm/hold > /dev/null & exec 9> /dev/shm/hold
while [ ! -e mapped ]; do sleep 0.1; done
warm --strict --to node:1 file
exec 9>&-
wait $!
cp file /dev/shm/file
warm --strict --to blocked /dev/shm/file
[ "$sum" = "$(sha256sum < /dev/shm/file)" ]
cd /dev/shm
rm file
taskset -c 0 head -c 64M /dev/zero > model.gguf
export COLUMNS=80
for line in "nodewise warm --look model.gguf" "nodewise warm model.gguf"; do
  echo "== text"
  $line
done
cd - > /dev/null
echo "== same"
[ "$sum" = "$(sha256sum < file)" ] && echo same
"""

# What the disk of ext4 has read, in bytes, by the kernel's own count.
ON_DISK = f"""
{BEGIN}warm() {{ echo "== warm $*"; nodewise warm --json "$@" || echo "status $?"; }}
disk() {{ echo "== disk"; awk '$3 == "vda" {{ print $6 * 512 }}' /proc/diskstats; }}
cd /scratch
cp $OLDPWD/look.py .
head -c {SIZE} /dev/urandom > file
sync
sum=$(sha256sum < file)
nodewise drop-cache --quiet file
disk
taskset -c 0 cat file > /dev/null
disk
warm --strict file
disk
echo "== look"
/usr/bin/python3 look.py file
nodewise drop-cache --quiet file
warm --strict --to interleave file
disk
echo "== look"
/usr/bin/python3 look.py file
mkfifo hold
/usr/bin/python3 look.py file stay < hold > /dev/null & exec 9> hold
while [ ! -e mapped ]; do sleep 0.1; done
warm --strict --to node:1 file
exec 9>&-
wait $!
[ "$sum" = "$(sha256sum < file)" ]
echo "== same"
"""


# A program that maps a file and reads it with bound threads, each its own part. Its checksum shows each byte.
READER = """
import mmap, os, sys, threading, zlib
with open(sys.argv[1], "rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
    threads = os.cpu_count()
    part = len(pages) // threads
    sums = [0] * threads
    def read(i):
        sums[i] = zlib.crc32(pages[i * part:(i + 1) * part])
    workers = [threading.Thread(target=read, args=(i,)) for i in range(threads)]
    [each.start() for each in workers]
    [each.join() for each in workers]
print("sums", *sums)
"""
# Loaders of GGUF files map the whole file, and unmap its header and what follows its last tensor.
LOADER = """
import ctypes, os
libc = ctypes.CDLL(None)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int, ctypes.c_int, ctypes.c_int, ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]
file = os.open("file", os.O_RDONLY)
size = os.fstat(file).st_size
start = libc.mmap(None, size, 1, 1, file, 0)
for first, last in [(0, 1 << 20), (size - (2 << 20), size), (6 << 20, 7 << 20)]:
    assert libc.munmap(start + first, last - first) == 0
"""
RULES_SIZE = 16 << 20
RULES = f"""
{BEGIN}cat > read.py <<'END'
{READER}
END
cat > load.py <<'END'
{LOADER}
END
cd /scratch
cp $OLDPWD/look.py $OLDPWD/read.py $OLDPWD/load.py .
reader() {{ echo "== reader $*"; nodewise run --bind close "$@" 2>&1 || echo "status $?"; }}
read="/usr/bin/python3 read.py"
shown() {{ echo "== look"; /usr/bin/python3 look.py file; }}
head -c {RULES_SIZE} /dev/urandom > file
sync
nodewise drop-cache --quiet file
taskset -c 0 cat file > /dev/null
reader -- $read file
shown
reader --verify --json --output=a.json --rule 'file=fi?e:blocked' -- $read file
shown
reader --rule 'file=/scratch/*:interleave' -- $read file
shown
reader --rule 'file=*.gguf:bind:1' -- $read file
shown
reader --memory cyclic:64K --also files -- $read file
shown
nodewise drop-cache --quiet file
reader --memory blocked --also files --read-files -- $read file
shown
mkfifo hold
/usr/bin/python3 look.py file stay < hold > /dev/null & exec 9> hold
while [ ! -e mapped ]; do sleep 0.1; done
reader --rule 'file=file:bind:1' -- $read file
exec 9>&-
wait $!
shown
reader --verify --json --output=b.json --rule 'file=file:blocked' -- /usr/bin/python3 load.py
echo "== json"
cat a.json
echo "== json"
cat b.json
"""


class Script(LabTest):
    """A script that prints titles, of which each test looks at the texts below."""

    script = ""
    options = ()
    pages = PAGES

    @classmethod
    def setUpClass(cls):
        done = shell(cls.script, options=cls.options)
        cls.output = done.stdout.decode() + done.stderr.decode()
        cls.parts = {}
        for part in cls.output.split("== ")[1:]:
            title, _, text = part.partition("\n")
            cls.parts.setdefault(title, []).append(text.strip())
        cls.looks = [dict(map(int, each[1:].split("=")) for each in look.split()[1:]) for look in cls.parts.get("look", [])]

    def result(self, arguments):
        text = self.parts[f"warm {arguments}"][0]
        document, _, status = text.partition("status ")
        return json.loads(document)["files"][0], int(status or 0)

    def assert_on(self, look, shares):
        pages = self.looks[look]
        self.assertEqual(sum(pages.values()), self.pages, self.output)
        for node, share in enumerate(shares):
            self.assertAlmostEqual(pages.get(node, 0) / self.pages, share, delta=0.005, msg=f"node {node} of {pages}")


class Warm(Script):
    script = SCRIPT

    def test_a_cached_file_is_moved_and_not_read(self):
        self.assert_on(0, [1, 0, 0, 0])
        checked, _ = self.result("--look --to blocked file")
        self.assertEqual(checked["cached_now"], {"0": SIZE})
        self.assertEqual((checked["moved_pages"], checked["on_owner_pages"]), (0, PAGES // 4))
        moved, status = self.result("file")
        self.assertEqual((moved["read_bytes"], moved["moved_pages"], moved["on_owner_pages"], status), (0, PAGES * 3 // 4, PAGES, 0))
        self.assert_on(1, [0.25] * 4)
        self.assertEqual(self.result("--strict --to interleave file")[1], 0)
        self.assert_on(2, [0.25] * 4)
        self.result("--to cyclic:1M:1,3 file")
        self.assert_on(3, [0, 0.5, 0, 0.5])

    def test_blocks_are_for_readers_on_all_processors_also_where_warm_is_bound(self):
        asked = [f"asked for: blocked, one block for each of {readers} readers on nodes 0-3" for readers in (4, 8)]
        self.assertEqual(self.parts["bound"][0].splitlines(), asked)

    def test_a_file_that_is_not_cached_is_read_to_its_nodes(self):
        read, status = self.result("--strict --to weighted:0=3,2=1 file")
        self.assertEqual((read["cached_before"], read["read_bytes"], status), ({}, SIZE, 0))
        self.assert_on(4, [0.75, 0, 0.25, 0])
        read, _ = self.result("--readers 3 file")
        self.assertEqual(read["on_owner_pages"], PAGES)
        self.assert_on(5, [2 / 3, 1 / 3, 0, 0])

    def test_pages_that_another_process_has_mapped_stay_and_it_is_named(self):
        stayed, status = self.result("--strict --to node:1 file")
        self.assertEqual(stayed["stayed"], [{"errno": 13, "pages": PAGES}])
        self.assertRegex(stayed["mapped_by"][0], r"^\d+ \(python3")
        self.assertEqual((stayed["moved_pages"], status), (0, 1))

    def test_a_file_in_memory_is_moved_and_no_byte_changes(self):
        moved, status = self.result("--strict --to blocked /dev/shm/file")
        self.assertEqual((moved["on_owner_pages"], status), (PAGES, 0))
        self.assertEqual(self.parts["same"], ["same"])

    def test_the_docs_show_what_is_printed(self):
        shown = (ROOT / "docs/files.md").read_text().split("```console\n")[1].split("```")[0]
        lines = [f"$ nodewise warm {arguments}\n{text}\n" for arguments, text in zip(("--look model.gguf", "model.gguf"), self.parts["text"])]
        self.assertEqual(shown, "".join(lines))


class Rules(Script):
    """A program whose mappings of a file are placed when it maps it."""

    script = RULES
    options = ("--disk", str(64 << 20))
    pages = RULES_SIZE >> 12

    def test_rules_move_what_is_cached(self):
        blocks = [0.25] * 4
        for number, shares in enumerate([[1, 0, 0, 0], blocks, blocks, blocks, blocks, blocks]):
            self.assert_on(number, shares)
        readers = ["".join(texts) for title, texts in self.parts.items() if title.startswith("reader ")]
        self.assertEqual(len(readers), 8)
        sums = {line for text in readers for line in text.splitlines() if line.startswith("sums")}
        self.assertEqual(len(sums), 1, "the contents are the same for all")
        self.assertFalse([text for text in readers if "status" in text])

    def test_a_rule_is_reported(self):
        run = json.loads(self.parts["json"][0])
        found = [each for process in run["processes"] for each in process["objects"] if each["kind"] == "file"]
        self.assertEqual([(each["name"], each["pages"], each["rule"]) for each in found], [("file", self.pages, 0)])
        self.assertEqual((found[0]["placed"], found[0]["as_asked"], found[0]["extents"]), (True, 1, 0))
        self.assertEqual([each["pages"] for each in found[0]["per_node"]], [self.pages // 4] * 4)

    def test_what_a_program_keeps_of_a_mapping_is_reported(self):
        run = json.loads(self.parts["json"][1])
        found = [each for process in run["processes"] for each in process["objects"] if each["kind"] == "file"]
        mib = (1 << 20) >> 12
        self.assertEqual(sorted(each["pages"] for each in found), [5 * mib, 7 * mib])
        self.assertEqual([(each["partly_unmapped"], each["as_asked"]) for each in found], [(True, 1)] * 2)
        self.assertEqual({share["node"] for each in found for share in each["per_node"]}, {0, 1, 2, 3})

    def test_pages_of_two_processes_stay(self):
        text = "".join(self.parts["reader --rule file=file:bind:1 -- /usr/bin/python3 read.py file"])
        self.assertRegex(text, r"1 of \d+ large objects not placed: move_pages failed: EACCES")
        self.assertIn("other processes have mapped pages", text)
        self.assert_on(6, [0.25] * 4)


class OnDisk(Script):
    """On a disk that counts what is read, with the right to move pages that other processes have mapped."""

    script = ON_DISK
    options = ("--disk", str(256 << 20), "--caps", "sys_nice")

    def test_moving_reads_nothing_and_reading_reads_once(self):
        empty, read, moved, again = map(int, self.parts["disk"])
        self.assertGreaterEqual(read - empty, SIZE)
        self.assertEqual(moved, read)
        self.assertGreaterEqual(again - moved, SIZE)
        self.assertLess(again - moved, SIZE * 1.05)
        result, status = self.result("--strict file")
        self.assertEqual((result["read_bytes"], result["moved_pages"], status), (0, PAGES * 3 // 4, 0))
        self.assert_on(0, [0.25] * 4)
        result, status = self.result("--strict --to interleave file")
        self.assertEqual((result["read_bytes"], status), (SIZE, 0))
        self.assert_on(1, [0.25] * 4)

    def test_shared_pages_can_be_moved_with_the_capability(self):
        result, status = self.result("--strict --to node:1 file")
        self.assertEqual((result["moved_pages"], result["stayed"], status), (PAGES * 3 // 4, [], 0))
        self.assertIn("same", self.parts)


if __name__ == "__main__":
    unittest.main()
