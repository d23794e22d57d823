# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What `nodewise tune` adds to a run, beside hyperfine on the same command.

    bench/tune_cost.py --nodewise build/release/bin/nodewise [--rounds 15] [--output FILE]

In each round tune and `hyperfine -N` run `sleep 0.05`, in random order: the wall time of a run within each (of tune
the runs as it is, from its log), and the elapsed time of the whole call over the number of runs, which includes the
start, and for tune the runs under `nodewise run`. The bar is 5 ms that tune's call adds per run to hyperfine's mean.
Then the processor time that tune itself uses while a program runs (`sleep 2`), from 0.3 s after its start to 0.3 s
before its end: by /proc/PID/stat in ticks, and by schedstat in nanoseconds. The bar is 0 ticks.
"""

import argparse
import json
import os
import pathlib
import random
import signal
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine, version_of

SLEEP_S = 0.05
SETTINGS = "--threads 2 --bind close\n--threads 1 --bind close\n--threads 1\n--bind spread\n"
LONG_S = 2
EDGE_S = 0.3
BAR_MS = 5


def elapsed(command):
    begin = time.perf_counter()
    subprocess.run(command, check=True, stdout=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
    return time.perf_counter() - begin


def in_tune(nodewise, folder):
    """Milliseconds: a run within tune, and the whole call per run."""
    log = folder / "log"
    log.unlink(missing_ok=True)
    seconds = elapsed([nodewise, "tune", "--quiet", "--candidates", folder / "settings", "--log", log, "--", "sleep",
                       str(SLEEP_S)])
    runs = [json.loads(line) for line in log.read_text().splitlines()[1:]]
    as_it_is = [each["wall_s"] for each in runs if each["candidate"] == 0]
    others = [each["wall_s"] for each in runs if each["candidate"] != 0]
    outside = seconds - sum(as_it_is) - sum(others)
    return {"run_ms": statistics.mean(as_it_is) * 1e3, "call_ms": seconds / len(runs) * 1e3, "runs": len(runs),
            "run_placed_ms": statistics.mean(others) * 1e3, "outside_runs_ms": outside / len(runs) * 1e3}


def in_hyperfine(folder, runs):
    file = folder / "hyperfine.json"
    seconds = elapsed(["hyperfine", "-N", "--style", "none", "--warmup", "1", "--runs", str(runs - 1), "--export-json",
                       file, f"sleep {SLEEP_S}"])
    mean = json.loads(file.read_text())["results"][0]["mean"]
    return {"run_ms": mean * 1e3, "call_ms": seconds / runs * 1e3, "runs": runs}


def summary(values):
    return {"median": round(statistics.median(values), 3), "least": round(min(values), 3),
            "most": round(max(values), 3)}


def run_costs(nodewise, folder, rounds):
    found = {"tune": [], "hyperfine": []}
    runs = in_tune(nodewise, folder)["runs"]  # hyperfine makes as many
    for _ in range(rounds):
        for name in random.sample(list(found), 2):
            found[name].append(in_tune(nodewise, folder) if name == "tune" else in_hyperfine(folder, runs))
    made = {name: {key: summary([each[key] for each in of]) for key in ("run_ms", "call_ms", "runs")}
            for name, of in found.items()}
    made["tune"] |= {key: summary([each[key] for each in found["tune"]]) for key in ("run_placed_ms", "outside_runs_ms")}
    pairs = list(zip(found["tune"], found["hyperfine"]))
    made["added_ms"] = summary([mine["call_ms"] - peer["run_ms"] for mine, peer in pairs])
    made["added_within_run_ms"] = summary([mine["run_ms"] - peer["run_ms"] for mine, peer in pairs])
    made["rounds"] = found
    return made


def used(pid):
    """Ticks and nanoseconds of processor time so far, of all threads."""
    fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    tasks = pathlib.Path(f"/proc/{pid}/task").iterdir()
    return int(fields[11]) + int(fields[12]), sum(int((each / "schedstat").read_text().split()[0]) for each in tasks)


def program_of(tune):
    """Waits until tune has started the program, and returns its process."""
    children = pathlib.Path(f"/proc/{tune.pid}/task/{tune.pid}/children")
    while tune.poll() is None:
        for pid in children.read_text().split():
            words = pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if words[:2] == [b"sleep", str(LONG_S).encode()]:
                return pid
        time.sleep(0.002)
    raise SystemExit("tune ended before the program began")


def use_meanwhile(nodewise, folder):
    """What tune uses during the first run; then the race is ended."""
    command = [nodewise, "tune", "--quiet", "--candidates", folder / "settings", "--", "sleep", str(LONG_S)]
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL) as tune:
        program = program_of(tune)
        time.sleep(EDGE_S)
        ticks, nanoseconds = used(tune.pid)
        time.sleep(LONG_S - 2 * EDGE_S)
        ticks_then, nanoseconds_then = used(tune.pid)
        if not pathlib.Path(f"/proc/{program}/stat").exists():
            raise SystemExit("the program ended before the second sample: repeat on a quieter machine")
        tune.send_signal(signal.SIGINT)
    return {"ticks": ticks_then - ticks, "ns": nanoseconds_then - nanoseconds}


def show(made):
    print(f"{'ms, median (least to most)':28}{'a run':>30}{'whole call per run':>30}")
    for name in ("tune", "hyperfine"):
        cells = ["{median:.2f} ({least:.2f} to {most:.2f})".format(**made[name][key]) for key in ("run_ms", "call_ms")]
        print(f"{name:28}{cells[0]:>30}{cells[1]:>30}")
    print("tune: a run under `nodewise run` takes {:.2f} ms; outside of runs tune takes {:.2f} ms per run".format(
        made["tune"]["run_placed_ms"]["median"], made["tune"]["outside_runs_ms"]["median"]))
    added = made["added_ms"]
    print(f"tune's call adds {added['median']:.2f} ms per run ({added['least']:.2f} to {added['most']:.2f}); "
          f"bar {BAR_MS} ms: {'kept' if added['median'] <= BAR_MS else 'missed'}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--output")
    asked = parser.parse_args()
    machine = describe_machine() | {"hyperfine": version_of("hyperfine")}
    os.environ.pop("OMP_NUM_THREADS", None)
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as temporary:
        folder = pathlib.Path(temporary)
        (folder / "settings").write_text(SETTINGS)
        made = run_costs(asked.nodewise, folder, asked.rounds)
        meanwhile = [use_meanwhile(asked.nodewise, folder) for _ in range(3)]
    show(made)
    ticks, nanoseconds = (max(each[key] for each in meanwhile) for key in ("ticks", "ns"))
    print(f"while a program runs for {LONG_S} s, tune uses {ticks} ticks, {nanoseconds} ns (the most of "
          f"{len(meanwhile)}); bar 0 ticks: {'kept' if ticks == 0 else 'missed'}")
    if asked.output:
        result = {"schema": "nodewise/bench-tune-cost/1", "machine": machine, "command": f"sleep {SLEEP_S}",
                  "results": made | {"meanwhile": meanwhile}}
        pathlib.Path(asked.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
