# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs programs of the system and of this folder one after the other, and prints all that they show.

    acceptance.py PROGRAMS SCALE NAME...    PROGRAMS: the folder of ours; SCALE: 1 in a virtual machine

Output, errors, exit code and the files that they leave: the same text each time, whoever serves
their memory. What depends on the time or the process's number is left out by the commands here.
"""

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile

PYTHON_ARRAYS = r"""
import array, hashlib, mmap, sys
scale = int(sys.argv[1])
numbers = [i * 7919 % 1000003 for i in range(150_000 * scale)]
numbers.sort()
squares = array.array("q", (i * i for i in range(100_000 * scale)))
for i in range(5):
    squares.extend(squares[: 50_000 * scale])
grown = bytearray()
for i in range(200 * scale):
    grown += bytes([i & 255]) * 10_000
del grown[1000:300_000]
memory = mmap.mmap(-1, 2 << 20)
for i in range(0, 2 << 20, 4096):
    memory[i] = i >> 12 & 255
for size in (5, 12, 3, 4):
    memory.resize(size << 20)
texts = {str(i): "x" * (i % 700) for i in range(10_000 * scale)}
for data in (repr(numbers[:: 50]).encode(), squares.tobytes(), bytes(grown), memory[: 2 << 20],
             "".join(texts.values()).encode()):
    print(len(data), hashlib.sha256(data).hexdigest())
"""

SORT = """
seq 1 $((30000 * $1)) | awk '{ print ($1 * 7919) % 1000003, "line", $1 }' > lines
sort --parallel=2 -S 64M -n lines > by-number
sort --parallel=2 -S 512K -T . -k 3,3 lines | tee by-text | tail -n 3
sort --parallel=2 -c -n by-number && ! sort -c lines 2> /dev/null
"""

XZ = """
seq 1 $((40000 * $1)) | md5sum > small; seq 1 $((60000 * $1)) > plain
xz -T2 -1 --block-size=256KiB -k plain; xz -l plain.xz | tail -n 1
xz -T2 -dc plain.xz | cmp - plain && echo same; head -c 20000 plain.xz | xz -dc > part; tail -n 1 part
"""

GCC = r"""
awk -v n=$((40 * $1)) 'BEGIN { for (i = 0; i < n; ++i) printf("int f%d(int* a, int n) { int s = %d; for (int i = 0; i < n; ++i) { s += a[i] * %d; switch (s %% 7) { case 1: s ^= n; break; case %d: s -= i; } } return s; }\nstatic const double t%d[500] = { %d.5 };\nconst double* g%d(void) { return t%d; }\n", i, i, i + 3, i % 7 + 2, i, i, i, i) }' > many.c
gcc -O1 -c many.c -o many.o; objdump -d many.o | tail -n +4 | md5sum
echo 'int f( { return' > wrong.c; gcc -c wrong.c; echo "status $?"
"""

SQLITE = """
create="create table t(id integer primary key, k integer, name text);
insert into t with recursive n(i) as (values(1) union all select i + 1 from n where i < $((8000 * $1)))
  select i, i * 7919 % 10007, printf('name %d', i * 31 % 977) from n;
create index byname on t(name, k);
select name, count(*), sum(k) from t group by name order by 3 desc limit 4;
select count(*), sum(a.k) from t a join t b on a.k = b.id;
delete from t where k % 3 = 0; select count(*), max(name) from t; select length(group_concat(name)) from t;"
sqlite3 :memory: "$create"
sqlite3 file.db "pragma journal_mode=wal; $create pragma integrity_check; vacuum;"
sqlite3 file.db .dump | md5sum; rm -f file.db*
"""

REDIS = r"""
sockets=$(mktemp -d -p /dev/shm) # an overlay's folder does not always take a socket
trap 'kill $server 2> /dev/null; rm -rf $sockets' EXIT
redis-server --port 0 --unixsocket $sockets/redis.sock --save '' --appendonly no --logfile log --daemonize no \
  --enable-debug-command local --proc-title-template '{title} is here' &
server=$!
ask() { redis-cli -s $sockets/redis.sock "$@"; }
while kill -0 $server && [ "$(ask ping 2> /dev/null)" != PONG ]; do sleep 0.1; done
awk -v n=$((1500 * $1)) 'BEGIN { for (i = 0; i < n; ++i) {
  printf("SET key%d value%0*d\r\n", i, i % 900 + 1, i); printf("RPUSH list%d element%d\r\n", i % 7, i);
  printf("HSET hash%d field%d %d\r\n", i % 11, i, i); printf("ZADD sorted %d member%d\r\n", i * 7919 % 1009, i);
  if (i % 3 == 0) printf("DEL key%d\r\n", i / 2); if (i % 100 == 0) printf("SETRANGE big %d x\r\n", i * 3000) } }' |
  ask --pipe | tail -n 1
redis-benchmark -s $sockets/redis.sock -q -n $((1500 * $1)) -P 16 -c 4 -t set,lpush,sadd > /dev/null; echo "benchmark $?"
ask DBSIZE; ask STRLEN big; ask DEBUG DIGEST; ask LRANGE list3 100 102
tr -s '\0 ' ' ' < /proc/$server/cmdline; echo
ask DUMP sorted | md5sum; ask SHUTDOWN NOSAVE; wait $server; status=$?; echo "server $status"
[ $status = 0 ] || cat log >&2
rm -rf log $sockets; trap - EXIT
"""

OURS = {
    "habits": [["habits"]],
    "own_operators": [["own_operators"]],
    "plugins": [["cxx_plugin_host", "./cxx_plugin.so", "./cxx_plugin_static.so"]],
    "torture": [["torture", "1", "3000"], ["torture", "2", "3000"]],
}
SCRIPTS = {"sort": SORT, "xz": XZ, "gcc": GCC, "sqlite": SQLITE, "redis": REDIS}


def commands(name, programs, scale):
    """Pairs of a command and the folder it runs in, or None for a new one."""
    if name == "python":
        return [(["/usr/bin/python3", "-I", "-c", PYTHON_ARRAYS, scale], None)]
    if name in SCRIPTS:
        return [(["bash", "-c", SCRIPTS[name], name, scale], None)]
    return [([f"./{first}", *rest], programs) for first, *rest in OURS[name]]


def show_files(folder):
    for path in sorted(pathlib.Path(folder).rglob("*")):
        if path.is_file():
            print("file", path.relative_to(folder), hashlib.sha256(path.read_bytes()).hexdigest())


def show(command, where):
    with tempfile.TemporaryDirectory(prefix="nodewise-acceptance-") as folder:
        done = subprocess.run(command, cwd=where or folder, stdin=subprocess.DEVNULL, capture_output=True,
                              env=os.environ | {"LC_ALL": "C"}, check=False)
        for stream, data in (("out", done.stdout), ("err", done.stderr)):
            for line in data.decode(errors="backslashreplace").splitlines():
                print(stream, line)
        print("status", done.returncode)
        show_files(folder)


def main():
    programs, scale, *names = sys.argv[1:]
    for name in names:
        print("===", name)
        for command, where in commands(name, programs, scale):
            show(command, where)
        sys.stdout.flush()


if __name__ == "__main__":
    main()
