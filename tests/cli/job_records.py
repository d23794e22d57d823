# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Records of a job's ranks, as `nodewise survey -- PROGRAM` writes them."""

# Two nodes of two processors.
HARDWARE = {"nodes": [{"node": 0, "cpus": "0-1", "package": 0}, {"node": 1, "cpus": "2-3", "package": 1}], "cores": "0 1 2 3"}


def machine_of(hardware):
    """The checksum that src/survey/record.cpp gives this machine."""
    text = "".join(f"{node['node']}:{node['cpus']}:{node['package']};" for node in hardware["nodes"])
    value = 14695981039346656037
    for byte in (text + hardware["cores"]).encode():
        value = (value ^ byte) * 1099511628211 % 2**64
    return f"{value:016x}"


def record_of(rank, ranks, host, cpus, **others):
    """Of a machine with two nodes of two processors."""
    made = {"schema": "nodewise/survey-record/1", "job": "77", "launcher": "slurm", "rank": rank, "ranks": ranks,
            "started": 1_700_000_000, "host": host, "machine": "5e3ef29cbb4ae6a4", "command": "./solver",
            "exit_code": 0, "allowed": cpus, "workers": [{"allowed": cpus, "ran": cpus, "busy_ms": 900}],
            "helpers": 0, "bytes": {}, "unknown_bytes": 0, "settings": {"kernel": "6.1"}}  # fmt: skip
    return made | others
