# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Page cache on one of four nodes makes memory remote, until it is dropped, in each of the ways."""

import json
import re
import subprocess
import unittest

from lab import BUILD, FOUR_NODES, PYTHON, LabTest, shell

# Only root may make a control group in a guest.
PRIVILEGED_LAB = BUILD / "tests/privileged_lab/nodewise_lab"

# A file that stays open is in the cache of the node whose processor has read it.
HOLDER = """
import mmap, time
with open("file", "r+b") as file:
    with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as pages:
        for at in range(0, len(pages), 4096):
            pages[at]
    open("filled", "w").close()
    time.sleep(1000)
"""
SCRIPT = f"""
export OMP_PLACES=cores OMP_PROC_BIND=close
cat > hold.py <<'END'
{HOLDER}
END
fill() {{
  rm -f filled
  taskset -c 0 /usr/bin/python3 hold.py &
  holder=$!
  while [ ! -e filled ]; do
    kill -0 $holder || exit 1
    sleep 0.1
  done
}}
look() {{ echo "$1 $({BUILD}/examples/buffer-cache/buffer-cache 1 64 1 . | grep data)"; }}
drop() {{
  echo "== $1"
  {BUILD}/bin/nodewise drop-cache --json "$@" || echo "status $?"
  echo "=="
  look "$1"
  kill $holder
}}
head -c 200M /dev/zero > file
fill
look full
{BUILD}/bin/nodewise drop-cache --by=drop --nodes 0 2>&1
echo "dropping node 0 alone: $?"
drop --nodes=0
fill
drop --by=drop
fill
drop file
"""

# A job whose files were staged inside it: they are charged to it, up to its limit.
JOB = f"""
set -e
job=/sys/fs/cgroup/job
echo +memory > /sys/fs/cgroup/cgroup.subtree_control || true
mkdir $job
echo 150M > $job/memory.max
head -c 200M /dev/zero > file
cat > hold.py <<'END'
{HOLDER}
END
echo 1 > /proc/sys/vm/drop_caches
echo $$ > $job/cgroup.procs
taskset -c 0 /usr/bin/python3 hold.py & holder=$!
while [ ! -e filled ]; do
  kill -0 $holder
  sleep 0.1
done
echo "used $(cat $job/memory.current)"
echo "limit $({BUILD}/bin/nodewise doctor | grep memory_limit)"
{BUILD}/bin/nodewise drop-cache --json --by pressure --nodes 0
kill $holder
"""


class DropCache(LabTest):
    def test_first_touch_is_local_again(self):
        done = shell(SCRIPT, machine=FOUR_NODES, cwd=self.directory, timeout=900)
        said = done.stdout.decode()
        local = {
            name: float(share) for name, share in re.findall(r"^(\S+) data: .*?([\d.]+) % on the node", said, re.M)
        }
        message = said + done.stderr.decode()
        self.assertLess(local["full"], 90, message)
        ways = {"--nodes=0": "pressure", "--by=drop": "drop", "file": "files"}
        for option in ways:
            with self.subTest(option):
                self.assertEqual(local[option], 100, message)
        results = re.findall(r"^== (\S+)\n(.*?)^==$", said, re.M | re.S)
        self.assertEqual([option for option, _ in results], list(ways), message)
        for option, text in results:
            with self.subTest(option):
                result = json.loads(text)
                self.assertEqual(result["way"], ways[option], "root may drop, but not for one node")
                node = result["nodes"][0]
                # The file has 200 MiB, of which the node keeps what it has room for: that depends on what
                # the kernel holds. All but a little of it must have become free.
                before, after = node["before"], node["after"]
                self.assertGreater(before["evictable_bytes"], 100 << 20)
                self.assertLess(after["evictable_bytes"], 16 << 20)
                dropped = before["evictable_bytes"] - after["evictable_bytes"]
                self.assertGreater(after["free_bytes"] - before["free_bytes"], 0.75 * dropped)
        self.assertIn("dropping node 0 alone: 2", said)
        self.assertRegex(said, r"(?s)--by drop with --nodes 0:.*also of 1-3.*hint: --by pressure")

    def test_files_that_are_charged_to_a_job_leave_room_in_it(self):
        command = [PYTHON, "-B", PRIVILEGED_LAB, "run", "--machine", FOUR_NODES, "--", "sh", "-c", JOB]
        done = subprocess.run(command, cwd=self.directory, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                              timeout=900)  # fmt: skip
        said = done.stdout
        message = said + done.stderr
        self.assertEqual(done.returncode, 0, message)
        self.assertGreater(int(re.search(r"^used (\d+)$", said, re.M)[1]), 140 << 20, message)
        left = re.search(r"^limit .*150 MiB \(control group\), (\d+) MiB left", said, re.M)
        self.assertIsNotNone(left, message)
        self.assertGreater(int(left[1]), 120)
        node = json.loads(said[said.index("{") : said.rindex("}") + 1])["nodes"][0]
        self.assertGreater(node["taken_bytes"], 75 << 20, message)
        self.assertLess(node["after"]["evictable_bytes"], node["before"]["evictable_bytes"] - (75 << 20), message)


if __name__ == "__main__":
    unittest.main()
