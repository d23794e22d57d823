# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A job of 1000 hosts with 128 ranks each, made from the hardware of several machines, with 12 planted faults of 8
kinds: does `nodewise survey` find all of them and invent none, on how many lines, in what time and memory?

The records are in files of one host each, as a prologue would collect them.
"""

import argparse
import copy
import json
import os
import pathlib
import random
import statistics
import subprocess
import tempfile
import time

from machine import describe_machine

HOSTS, RANKS = 1000, 128
GIB = 1 << 30


def cpus_in(listed):
    return [cpu for part in listed.split(",") if part
            for cpu in range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1)]


def hardware_of(nodewise, machine):
    """As a record has it, and the first hardware threads of the cores in the order of the nodes."""
    shown = json.loads(subprocess.run([nodewise, "topo", "--json", "-i", machine], capture_output=True, text=True,
                                      check=True).stdout)["machine"]
    package_of = {cpu: package["id"] for package in shown["packages"] for cpu in cpus_in(package["cpus"])}
    nodes = []
    for node in shown["nodes"]:
        nodes.append({"node": node["id"], "cpus": node["cpus"]})
        cpus = cpus_in(node["cpus"])
        if cpus and cpus[0] in package_of:
            nodes[-1]["package"] = package_of[cpus[0]]
    core_of = {cpu: core["cpus"] for core in shown["cores"] for cpu in cpus_in(core["cpus"])}
    in_order = list(dict.fromkeys(core_of[cpu] for node in nodes for cpu in cpus_in(node["cpus"])))
    cores = " ".join(core["cpus"] for core in shown["cores"])
    return {"nodes": nodes, "cores": cores}, in_order


def identity_of(hardware):
    """The checksum of src/survey/record.cpp."""
    text = "".join(f"{node['node']}:{node['cpus']}:{node.get('package', -1)};" for node in hardware["nodes"])
    value = 14695981039346656037
    for byte in (text + hardware["cores"]).encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


class Job:
    """Ranks that are bound as they should be, an equal number of neighbouring cores each, to be spoiled."""

    def __init__(self, hardware, cores):
        self.hardware, self.identity = hardware, identity_of(hardware)
        each = len(cores) // RANKS
        node_of = {cpu: node["node"] for node in hardware["nodes"] for cpu in cpus_in(node["cpus"])}
        self.host = []
        for local in range(RANKS):
            own = [cpus_in(core)[0] for core in cores[local * each:(local + 1) * each]]
            self.host.append({"workers": own, "node": node_of[own[0]]})
        self.nodes = list(dict.fromkeys(rank["node"] for rank in self.host))
        self.spoilt = {}  # (host, local): a function that changes the record

    def records(self, host, draw):
        for local, rank in enumerate(self.host):
            record = {
                "schema": "nodewise/survey-record/1", "job": "4711.0", "launcher": "slurm",
                "rank": host * RANKS + local, "ranks": HOSTS * RANKS, "local": local, "started": 1_700_000_000,
                "host": f"n{host:04}", "machine": self.identity, "command": "./solver", "exit_code": 0,
                "allowed": ",".join(map(str, rank["workers"])),
                "workers": [{"allowed": str(cpu), "ran": str(cpu), "busy_ms": 60_000 + draw.randrange(500)}
                            for cpu in rank["workers"]],
                "helpers": 2, "bytes": {str(rank["node"]): 2 * GIB + draw.randrange(GIB // 8)}, "unknown_bytes": 0,
                "settings": {"kernel": "6.1.0", "numa_balancing": "1", "transparent huge pages": "madvise"},
            }  # fmt: skip
            if local == 0:
                record["hardware"] = self.hardware
                record["devices"] = []
            spoil = self.spoilt.get((host, local)) or self.spoilt.get((host, None))
            if spoil is not None:
                record = spoil(record)
            if record is not None:
                yield record


def mask_all(mask):
    def spoil(record):
        for worker in record["workers"]:
            worker["allowed"] = mask
        return record | {"allowed": mask}
    return spoil


def plant(job):
    """Twelve faults of eight kinds; what should be found of each: kind, ranks."""
    everything = ",".join(node["cpus"] for node in job.hardware["nodes"] if node["cpus"])
    first, last = job.host[0], job.host[-1]
    expected = []

    def spoil(kind, host, local, change, ranks=None):
        job.spoilt[(host, local)] = change
        its = [host * RANKS + local] if ranks is None and local is not None else ranks or []
        expected.append((kind, its, f"n{host:04}"))

    def set_setting(record):
        return record | {"settings": record["settings"] | {"numa_balancing": "0"}}

    def set_kernel(record):
        return record | {"settings": record["settings"] | {"kernel": "5.10.0"}}

    def away(record):
        return record | {"bytes": {str(first["node"]): 4 * GIB}}

    def crowded(record):
        record["workers"] = [copy.deepcopy(record["workers"][0]) for _ in range(3)]
        return record

    def killed(record):
        del record["exit_code"]
        return record | {"signal": 9}

    def same_as_the_first(record):
        for worker in record["workers"]:
            worker["allowed"] = worker["ran"] = str(first["workers"][0])
        return record | {"bytes": {str(first["node"]): 2 * GIB}}

    spoil("threads are not bound", 17, 5, mask_all(everything))
    spoil("threads are not bound", 801, 127, mask_all(everything))
    spoil("hosts differ", 40, None, set_setting)
    spoil("hosts differ", 999, None, set_kernel)
    spoil("memory is on other nodes than the threads", 3, RANKS - 1, away)
    spoil("memory is on other nodes than the threads", 512, RANKS - 2, away)
    spoil("threads of a rank share processors", 77, 64, crowded)
    spoil("ranks failed", 600, 1, killed)
    spoil("ranks are missing", 601, 2, lambda record: None)
    spoil("ranks share processors", 250, 1, same_as_the_first, [250 * RANKS, 250 * RANKS + 1])
    spoil("ranks share processors", 251, 1, same_as_the_first, [251 * RANKS, 251 * RANKS + 1])
    # One of a rank's threads on another node, where ranks have several; else two ranks on one core of two hardware
    # threads, beside an idle core.
    second = job.hardware["cores"].split(" ")[0].split(",")[-1]
    if len(first["workers"]) > 1:
        def exchanged(other):
            def spoil_one(record):
                cpu = str(other["workers"][1])
                record["workers"][1] = {"allowed": cpu, "ran": cpu, "busy_ms": 60_000}
                return record | {"bytes": {str(first["node"]): GIB, str(last["node"]): GIB}}
            return spoil_one
        job.spoilt[(333, RANKS - 1)] = exchanged(first)
        spoil("ranks are on more nodes than necessary", 333, 0, exchanged(last), [333 * RANKS, 334 * RANKS - 1])
    else:
        def beside(record):
            record["workers"][0] = record["workers"][0] | {"allowed": second, "ran": second}
            return record
        spoil("threads share cores while cores are idle", 333, 1, beside, [333 * RANKS, 333 * RANKS + 1])
    return expected


def judged(found, expected):
    """Which planted faults were not found, and which findings were not planted."""
    shown = {}
    for finding in found:
        shown.setdefault(finding["what"], [set(), set()])
        shown[finding["what"]][0].update(finding["ranks"])
        shown[finding["what"]][1].update(finding["hosts"])
    lost = [each for each in expected
            if each[0] not in shown or not set(each[1]) <= shown[each[0]][0]
            or (each[0] != "ranks are missing" and each[2] not in shown[each[0]][1])]
    invented = []
    for what, (ranks, hosts) in shown.items():
        planted_ranks = {rank for each in expected if each[0] == what for rank in each[1]}
        planted_hosts = {each[2] for each in expected if each[0] == what}
        invented += [(what, rank) for rank in sorted(ranks - planted_ranks)]
        invented += [(what, host) for host in sorted(hosts - planted_hosts)]
    return lost, invented


def run_timed(words):
    begin = time.perf_counter()
    done = subprocess.Popen(words, stdout=subprocess.PIPE, text=True)
    out = done.stdout.read()
    _, status, usage = os.wait4(done.pid, 0)
    return out, time.perf_counter() - begin, usage.ru_maxrss * 1024, os.waitstatus_to_exitcode(status)


def measure(nodewise, machine, rounds):
    hardware, cores = hardware_of(nodewise, machine)
    job = Job(hardware, cores)
    expected = plant(job)
    draw = random.Random(7)
    with tempfile.TemporaryDirectory(prefix="nodewise-bench-") as folder:
        for host in range(HOSTS):
            text = "".join(json.dumps(record, separators=(",", ":")) + "\n" for record in job.records(host, draw))
            pathlib.Path(folder, f"host-{host}.jsonl").write_text(text)
        size = sum(file.stat().st_size for file in pathlib.Path(folder).iterdir())
        out, _, _, _ = run_timed([nodewise, "survey", "--json", folder])
        lost, invented = judged(json.loads(out)["findings"], expected)
        runs = [run_timed([nodewise, "survey", folder]) for _ in range(rounds)]
    return {
        "machine": os.path.basename(machine), "nodes": len(job.nodes), "hosts": HOSTS, "ranks": HOSTS * RANKS,
        "record_bytes": size, "planted": len(expected), "kinds": len({each[0] for each in expected}), "lost": lost,
        "invented": invented, "lines": len(runs[0][0].splitlines()),
        "seconds": statistics.median(run[1] for run in runs), "peak_bytes": max(run[2] for run in runs),
    }, runs[0][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodewise", required=True)
    parser.add_argument("--machines", nargs="+", default=["8x32", "2x64x2"])
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--show", action="store_true", help="print the text of the last job")
    parser.add_argument("--output")
    arguments = parser.parse_args()
    rows = []
    for machine in arguments.machines:
        row, text = measure(os.path.abspath(arguments.nodewise), machine, arguments.rounds)
        rows.append(row)
        print(f"{row['machine']}: {row['planted'] - len(row['lost'])} of {row['planted']} faults of {row['kinds']} kinds "
              f"found, {len(row['invented'])} invented, {row['lines']} lines; {row['seconds']:.1f} s, "
              f"{row['peak_bytes'] / GIB:.2f} GiB for {row['record_bytes'] / 1e6:.0f} MB of records", flush=True)
        for each in row["lost"]:
            print("  lost:", each)
        for each in row["invented"][:5]:
            print("  invented:", each)
    if arguments.show:
        print(text)
    if arguments.output:
        result = {"benchmark": "survey", "machine": describe_machine(), "results": rows}
        pathlib.Path(arguments.output).write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
