#!/usr/bin/env bash
# postgresql.sh WORKLOAD -- PREFIX...: a server with checksums under pgbench; every page is checked at the end.
set -euo pipefail
workload=$1; shift 2
bin=$(ls -d /usr/lib/postgresql/*/bin | tail -1)
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
chmod 755 "$folder"
mkdir "$folder/data"
user=(); if [ "$(id -u)" = 0 ]; then user=(runuser -u postgres --); chown postgres "$folder" "$folder/data"; fi
cd "$folder"
quietly() { "$@" > "$folder.log" 2>&1 || { cat "$folder.log"; rm -f "$folder.log"; exit 1; }; rm -f "$folder.log"; }
quietly "${user[@]}" "$bin/initdb" --data-checksums -D "$folder/data" --auth trust
"${user[@]}" "$@" "$bin/postgres" -D "$folder/data" -k "$folder" -c listen_addresses= -c shared_buffers=64MB \
  -c fsync=off -c logging_collector=off > "$folder/log" 2>&1 &
server=$!
trap 'kill "$server" 2> /dev/null || true; wait; rm -rf "$folder"' EXIT
for _ in $(seq 600); do "$bin/pg_isready" -q -h "$folder" && break; sleep 0.1; done
client=("${user[@]}" "$bin/pgbench" -h "$folder" postgres)
quietly "${client[@]}" --initialize --scale 5
quietly "${client[@]}" --builtin "$workload" --client 4 --jobs 2 --transactions 1000
"${user[@]}" "$bin/psql" -h "$folder" -At postgres -c \
  "select count(*), sum(aid) from pgbench_accounts; select sum(abalance) = (select sum(bbalance) from pgbench_branches) from pgbench_accounts"
quietly "${user[@]}" "$bin/pg_ctl" -D "$folder/data" -m fast -w stop
wait "$server"
"${user[@]}" "$bin/pg_checksums" --check -D "$folder/data" | grep -E 'Bad checksums|version'
