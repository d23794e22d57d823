#!/usr/bin/env bash
# redis.sh -- PREFIX...: fills a server, saves, reloads, and prints the digest of all that it holds.
set -euo pipefail
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
"$@" redis-server --port 0 --unixsocket "$folder/socket" --dir "$folder" --save '' --enable-debug-command yes \
  > log 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait; rm -rf "$folder"' EXIT
ask() { redis-cli -s "$folder/socket" "$@"; }
for _ in $(seq 600); do [ "$(ask ping 2> /dev/null)" = PONG ] && break; sleep 0.1; done
ask debug populate 300000 key 100
redis-benchmark -s "$folder/socket" -q -n 50000 -t set,lpush,incr,mset > benchmark 2>&1
ask del mylist counter:__rand_int__ key:__rand_int__ > /dev/null
ask eval 'for i = 1, 20000 do redis.call("zadd", "sorted", i * 7 % 1000, "m" .. i) end return 1' 0
before=$(ask debug digest); ask debug reload; after=$(ask debug digest)
[ "$before" = "$after" ] && echo "$after"
ask bgsave > /dev/null
while ask info persistence | grep -q 'rdb_bgsave_in_progress:1'; do sleep 0.1; done
redis-check-rdb dump.rdb | grep -o 'RDB looks OK!'
ask shutdown nosave || true
