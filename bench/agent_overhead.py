# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the preloaded agent costs programs whose objects are below its threshold; with --trace, what
it costs programs with large objects in trace mode.

Each round runs every program twice, without and with the agent, in random order, so that a drift of
the machine's speed meets both. Reported, of the pairs' ratios: the median, and its 95 % interval by
order statistics; of processor time (user and system, children included), which other programs on
the machine disturb less than the clock, and of the clock.
"""

import argparse
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine

PYTHON = """
for turn in range(6):
    table = {str(i): [i, (i, str(i * 7)), {"name": i}] for i in range(40_000)}
    names = sorted(table, key=lambda name: table[name][1][1])
    del table
"""

SQL = """create table t(id integer primary key, k integer, name text);
insert into t with recursive n(i) as (values(1) union all select i + 1 from n where i < 120000)
  select i, i * 7919 % 10007, printf('name %d', i * 31 % 977) from n;
create index byname on t(name, k); create index byk on t(k);
select sum(length(x)) from (select group_concat(name) x from t group by k);
select count(*) from t a join t b on a.k = b.id;
delete from t where k % 3 = 0;"""

SOURCE = """#include <map>
#include <regex>
#include <string>
#include <vector>
bool f(const std::string& s) {{ return std::regex_match(s, std::regex("(a+)b*{0}")); }}
std::map<std::string, std::vector<int>> g() {{ return {{{{"x", {{{0}}}}}}}; }}
"""


def commands(churn, folder):
    source = folder / "source.cpp"
    source.write_text(SOURCE.format(3))
    return {
        "python3, PYTHONMALLOC=malloc": ["env", "PYTHONMALLOC=malloc", "/usr/bin/python3", "-I", "-S", "-c", PYTHON],
        "g++ -O2": ["g++", "-O2", "-c", source, "-o", folder / "source.o"],
        "map, list and string": [churn],
        "sqlite3 in memory": ["sqlite3", ":memory:", SQL],
    }


def traced_commands(churn, first_touch):
    found = {"first-touch, 3 x 128 MiB": [first_touch, "128", "10"]} if first_touch else {}
    return found | {
        "map, list and string": [churn],
        "400 x 8 MiB, filled": [churn, "large"],
        "fread of 64 bytes": [churn, "fread"],
        "read of pages into 64 MiB": [churn, "read"],
    }


def run_once(argv, environment):
    """Seconds: processor time of the command and its children, and of the clock."""
    begin = time.perf_counter()
    pid = os.posix_spawnp(argv[0], [str(word) for word in argv], environment,
                          file_actions=[(os.POSIX_SPAWN_OPEN, 1, "/dev/null", os.O_WRONLY, 0)])
    _, status, usage = os.wait4(pid, 0)
    if status != 0:
        raise SystemExit(f"{argv[0]}: wait status {status}")
    return usage.ru_utime + usage.ru_stime, time.perf_counter() - begin


def summary(ratios):
    """The median and the interval that has it with 95 %, by the binomial distribution (normal limit)."""
    ordered = sorted(ratios)
    reach = 0.98 * len(ordered) ** 0.5
    low = max(0, int(len(ordered) / 2 - reach))
    high = min(len(ordered) - 1, int(len(ordered) / 2 + reach))
    return {"median": round(statistics.median(ordered), 4), "low": round(ordered[low], 4), "high": round(ordered[high], 4)}


def compile_churn(folder):
    churn = folder / "churn"
    source = pathlib.Path(__file__).with_name("agent_overhead.cpp")
    subprocess.run(["g++", "-O2", source, "-o", churn], check=True)
    return churn


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--agent", required=True, help="libnodewise-agent.so")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--threshold", type=int, default=1 << 30,
                        help="in bytes; the default is above every object of these programs")
    parser.add_argument("--trace", action="store_true", help="observe objects of 1 MiB and more, in trace mode")
    parser.add_argument("--first-touch", help="the example of this name, for --trace")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    nodes = len(list(pathlib.Path("/sys/devices/system/node").glob("node[0-9]*"))) or 1
    owners = ",".join(f"{node}*4" for node in range(nodes))
    settings = f"v3;threshold={arguments.threshold};group=256;owners={owners};default=blocked"
    plain = dict(os.environ)
    agent = os.path.abspath(arguments.agent)
    if arguments.trace:
        settings = "v3;threshold=1048576;group=256;observe;trace"
        agent += ":" + os.path.join(os.path.dirname(agent), "libnodewise-trace.so")

    rows = {}
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as name:
        folder = pathlib.Path(name)
        report = folder / "report"
        told = f";report={report}" if arguments.trace else ""
        preloaded = plain | {"LD_PRELOAD": agent, "NODEWISE_AGENT": settings + told}
        churn = compile_churn(folder)
        programs = (traced_commands(churn, arguments.first_touch) if arguments.trace
                    else commands(churn, folder))
        for title, argv in programs.items():
            report.write_bytes(bytes(64 << 20))
            run_once(argv, preloaded)
            pairs = []
            for _ in range(arguments.rounds):
                both = {}
                for which in random.sample(["without", "with"], 2):
                    report.write_bytes(bytes(64 << 20))
                    both[which] = run_once(argv, preloaded if which == "with" else plain)
                pairs.append((both["without"], both["with"]))
            rows[title] = {
                "cpu_s_without": round(statistics.median(without[0] for without, _ in pairs), 4),
                "cpu": summary([given[0] / without[0] for without, given in pairs]),
                "clock": summary([given[1] / without[1] for without, given in pairs]),
            }
            cpu, clock = rows[title]["cpu"], rows[title]["clock"]
            print(f"{title:30} processor time x {cpu['median']:.4f} ({cpu['low']:.3f} to {cpu['high']:.3f})   "
                  f"clock x {clock['median']:.4f} ({clock['low']:.3f} to {clock['high']:.3f})", flush=True)
    if arguments.output:
        with open(arguments.output, "w") as f:
            json.dump({"schema": "nodewise/bench-agent-overhead/1", "machine": describe_machine(),
                       "settings": settings, "rounds": arguments.rounds, "results": rows}, f, indent=2)
            f.write("\n")


if __name__ == "__main__":
    main()
