# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Page cache on one of four nodes pushes memory away, until it is swept: by each of the ways."""

import json
import re
import unittest

from lab import BUILD, FOUR_NODES, LabTest, shell

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
sweep() {{
  echo "== $1"
  {BUILD}/bin/nodewise sweep --json "$@" || echo "status $?"
  echo "=="
  look "$1"
  kill $holder
}}
head -c 200M /dev/zero > file
fill
look full
{BUILD}/bin/nodewise sweep --by=drop --nodes 0 2>&1
echo "dropping node 0 alone: $?"
sweep --nodes=0
fill
sweep --by=drop
fill
sweep file
"""


class Sweep(LabTest):
    def test_first_touch_is_local_again(self):
        done = shell(SCRIPT, machine=FOUR_NODES, cwd=self.directory, timeout=600)
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
                self.assertGreater(node["before"]["evictable_bytes"], 150 << 20)
                self.assertLess(node["after"]["evictable_bytes"], 16 << 20)
                self.assertGreater(node["after"]["free_bytes"], node["before"]["free_bytes"] + (100 << 20))
        self.assertIn("dropping node 0 alone: 2", said)
        self.assertRegex(said, r"(?s)--by drop with --nodes 0:.*those of 1-3.*cure: --by pressure")


if __name__ == "__main__":
    unittest.main()
