#!/usr/bin/env bash
# sqlite.sh -- PREFIX...: half a million rows with two indices, changed, vacuumed and checked.
set -euo pipefail
shift
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
"$@" sqlite3 "$folder/data.db" <<'SQL'
pragma cache_size = -65536;
pragma journal_mode = wal;
create table t (id integer primary key, a text, b real);
with recursive n(i) as (select 1 union all select i + 1 from n where i < 500000)
  insert into t select i, printf('%08x-%d', i * 2654435761 % 4294967296, i), i * 0.5 from n;
create index ta on t (a);
create index tb on t (b desc, a);
update t set b = b * 2 where id % 3 = 0;
delete from t where id % 7 = 0;
select count(*), sum(b), min(a), max(a) from t;
select a, count(*) over (order by b rows 10 preceding) from t order by b desc limit 5;
vacuum;
pragma integrity_check;
SQL
