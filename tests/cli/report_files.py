# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Small results of several kinds, as the verbs write them."""

import json

from command import nodewise


def machine(nodes=2):
    """A machine as a result has it."""
    done = nodewise("topo", "-i", f"{nodes}x2", "--json")
    return json.loads(done.stdout)["machine"]


def result(kind, version, **fields):
    return {
        "schema": f"nodewise/{kind}/{version}",
        "nodewise": "0.1.0",
        "machine": machine(),
        "settings": {},
        **fields,
    }


def candidate(setting, figures, state="raced to the end", **more):
    figures = list(figures)
    return {
        "setting": setting,
        "options": [] if setting == "as it is" else setting.split(),
        "state": state,
        "race_runs": len(figures),
        "confirmation_runs": 0,
        "figures": figures,
        **({"median": sorted(figures)[len(figures) // 2]} if figures else {}),
        **more,
    }


def tune(**changes):
    return (
        result(
            "tune",
            1,
            command=["./solver", "a b"],
            figure="wall time",
            higher_is_better=False,
            verdict="winner",
            line="nodewise run --bind close -- ./solver 'a b'",
            chosen=1,
            leader=1,
            gain={"ratio": 0.8, "low": 0.75, "high": 0.85},
            p=0.014,
            runs=15,
            seconds=20.5,
            candidates=[
                candidate("as it is", [2.0, 2.1, 2.2, 2.3, 2.4, 2.5, 2.6]),
                candidate(
                    "--bind close",
                    [1.7, 1.71, 1.72, 1.73, 1.74, 1.75, 1.76],
                    to_as_it_is={"ratio": 0.812, "low": 0.71, "high": 0.91},
                    predicted={"ratio": 0.789, "low": 0.7, "high": 0.8},
                ),
                candidate("--bind spread", [3.125], "set aside", to_as_it_is={"ratio": 1.4}),
                candidate("--memory blocked", [], "disqualified", reason="it ended with exit code 7"),
            ],
            remarks=["the processors ran at different speeds"],
        )
        | changes
    )


def settings():
    """A result's settings are of the system: these of a run here."""
    return json.loads(nodewise("doctor", "--json").stdout)["settings"]


def finding(name, verdict, found, **more):
    return {"name": name, "verdict": verdict, "found": found, **more}


def doctor(**changes):
    return (
        result(
            "doctor",
            1,
            verdict="bad",
            calls=[finding("mbind", "bad", "refused", errno=1, cure="docker run --cap-add SYS_NICE")],
            findings=[
                finding("numa_balancing", "warning", "1 (on)", cure="sysctl kernel.numa_balancing=0 as root"),
                finding("page_size", "good", "4096 bytes"),
            ],
            state=[finding("node 0", "unavailable", "no such file")],
            environment=[finding("OMP_PROC_BIND", "good", "unset")],
            lab=[],
        )
        | changes
    )


def area(name, per_node, **more):
    pages = sum(per_node.values())
    return {
        "name": name,
        "kind": "anonymous",
        "start": "0x7f0000000000",
        "bytes": pages * 4096,
        "page_bytes": 4096,
        "huge_bytes": 0,
        "policies": [{"pages": pages, "policy": "default"}],
        "pages": pages,
        "resident": pages,
        "unknown": 0,
        "zero": 0,
        "per_node": [{"node": node, "pages": count} for node, count in per_node.items()],
        "local": 0.25,
        "local_to_active": "unavailable",
        "runs": [],
        **more,
    }


def process(pid, *areas, **more):
    thread = {"tid": pid, "name": "a", "state": "R", "cpu": 0, "node": 0, "cpus_allowed": "0-1", "active": True}
    return {
        "pid": pid,
        "command": "./solver",
        "method": "move_pages",
        "resolution": "page",
        "counted_mappings": 0,
        "page_bytes": 4096,
        "query_seconds": 0.001,
        "notes": [],
        "threads": [thread],
        "totals": {"Huge": [], "Heap": [], "Stack": [], "Private": []},
        "areas": list(areas),
        **more,
    }


def pages(*processes, **changes):
    shown = list(processes) or [process(7, area("grid.c:12", {0: 256, 1: 768}), area("", {0: 1}, unknown=3))]
    return result("pages", 1, samples=[{"time_s": 100.0, "processes": shown}]) | changes


def side(remote, nodes, **more):
    return {
        "objects": 1,
        "bytes": 1 << 20,
        "nodes": [{"node": node, "share": share} for node, share in nodes.items()],
        "remote": remote,
        "used": 12.0,
        "touched_at": "solver.c:41",
        "touching_threads": 1,
        **more,
    }


def comparison(**changes):
    return (
        result(
            "comparison",
            1,
            sites=[
                {"program": "solver", "name": "grid", "before": side(0.75, {0: 1}), "after": side(0.0, {0: 0.5, 1: 0.5})},
                {"program": "solver", "name": "old", "before": side("unavailable", {}), "after": "absent"},
            ],
            before={"remote": 0.7, "predicted_s": 1.5},
            after={"remote": 0.1, "predicted_s": 0.5},
            doubts=["the commands differ"],
        )
        | changes
    )
