# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Hager and Wellein, problems 8.1 to 8.5, answered; each answer names what it assumes.

p, or a bandwidth of 1, is what one locality domain gives. Machines are n equal domains with a core
each (`--input nx1`) and an infinite network, unless another is named."""

from dataclasses import dataclass, field

import closed_forms
from cases import Run
from lab import Lab
from layout import wrapped
from model import Model

PAGE_DOUBLES = 512


@dataclass
class Problem:
    number: str
    question: str
    table: list[tuple[str, ...]]  # the first row are the heads
    assumptions: list[str]
    answer: str
    values: dict = field(default_factory=dict)

    def as_text(self) -> str:
        widths = [max(len(row[c]) for row in self.table) for c in range(len(self.table[0]))]
        lines = [wrapped(f"Problem {self.number}: {self.question}", "")]
        for row in self.table:
            cells = [row[0].ljust(widths[0])]
            cells += [text.rjust(width) for text, width in zip(row[1:], widths[1:])]
            lines.append(("  " + "  ".join(cells)).rstrip())
        lines += [wrapped(f"assumed: {text}") for text in self.assumptions]
        lines.append(wrapped(f"answer: {self.answer}"))
        return "\n".join(lines)

    def as_json(self) -> dict:
        return {
            "problem": self.number, "question": self.question, "assumptions": self.assumptions,
            "answer": self.answer, "values": self.values,
        }  # fmt: skip


def domains(n: int, cores: int = 1) -> tuple[str, ...]:
    """Words for n equal domains of bandwidth 1."""
    return ("--input", f"{n}x{cores}", "--set", "bandwidth=1")


def numbers(values, digits: int = 2) -> tuple[str, ...]:
    return tuple(f"{value:.{digits}f}" for value in values)


def dynamic_scheduling(model: Model) -> Problem:
    sizes = (2, 4, 8)
    rows = {
        "every configuration lasts equally long": [closed_forms.configuration_mean(n) for n in sizes],
        "crowded ones last longer": [closed_forms.closed_network(n) for n in sizes],
        "the same, played by the model": [
            model.moved(*domains(n), "--kernel", "load", "--schedule", "tasks,512", "--memory", "interleave")
            for n in sizes
        ],
        "static with first touch": [model.moved(*domains(n), "--kernel", "load") for n in sizes],
    }
    return Problem(
        "8.1",
        "dynamic scheduling, a thread a domain, each as fast as one domain: what is left of static?",
        [("bandwidth in p on", *(f"{n} domains" for n in sizes))]
        + [(name, *numbers(values)) for name, values in rows.items()],
        [
            "first row: n(1 - (1 - 1/n)^n), the mean over all ways in which n threads can be at n "
            "domains (the book's answer for two: 1.5 p)",
            "second and third row: n^2/(2n - 1), since two threads in one domain need twice as long; "
            "one stream of pages a thread, chunks of a page, stolen in no order",
        ],
        "1.5 p of 2 p if configurations are counted, 1.33 p if they are weighted by how long they last.",
        {"domains": list(sizes), **{name: values for name, values in rows.items()}},
    )


CHUNKS = (4, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192)
# A chunk costs what 16 elements of four arrays do at bandwidth 1.
CHUNK_START = ("--chunk-start", "512")
TRIAD = ("--kernel", "n,r,r,r", "--memory", "interleave")


def chunk_rows(model: Model) -> dict[str, list[float]]:
    """Of the vector triad with pages in turn over four domains, by chunk size."""
    over = "chunk=" + ",".join(map(str, CHUNKS))
    words = (*domains(4), *CHUNK_START, *TRIAD)
    return {
        "static": model.sweep(over, *words, "--schedule", "static,4"),
        "dynamic": model.sweep(over, *words, "--schedule", "dynamic,4"),
        "static, arrays staggered": model.sweep(over, *words, "--schedule", "static,4", "--stagger"),
    }


def chunk_sizes(rows: dict[str, list[float]]) -> Problem:
    table = [("doubles a chunk", *rows), *zip(map(str, CHUNKS), *(numbers(r) for r in rows.values()))]
    return Problem(
        "8.2",
        "why does performance break down for chunks of 16 to 256 with pages in turn (figure 8.7)?",
        table,
        [
            "four domains with a thread each, a page is 512 doubles, a chunk costs what 16 elements do, "
            "stores go past the caches, all arrays begin on the same domain (staggered: each one page "
            "further round)",
            "below a page threads run in step, above they have drifted apart",
        ],
        f"while chunk x threads is at most a page ({PAGE_DOUBLES} doubles), all threads work in one page "
        "of each array at a time, so on one domain. A chunk of a page gives each thread a page of its "
        "own. Arrays that begin on different domains have no such hole.",
        {"chunks": list(CHUNKS), **rows},
    )


def few_threads(model: Model) -> Problem:
    memory = 5.3  # GB/s, of lab:opteron-4x2
    table = [("a thread on each of 1 or 2 nodes", "core over memory", "first touch", "in turn", "better")]
    values = []
    for threads in (1, 2):
        for part in (0.5, 1, 1.5, 2, 3):
            words = ("--input", "lab:opteron-4x2", "--set", f"core_bandwidth={part * memory}")
            words += ("--kernel", "load", "--threads", str(threads), "--bind", "spread")
            local, turn = model.sweep("memory=local,interleave", *words)
            values.append({"threads": threads, "core_over_memory": part, "local": local, "turn": turn})
            better = "first touch" if local >= turn else "in turn"
            who = f"{threads} thread{'s'[: threads - 1]}"
            table.append((who, f"{part:g}", *numbers((local, turn)), better))
    return Problem(
        "8.3",
        "fewer threads than domains: first touch, or pages in turn over all domains?",
        table,
        [
            "lab:opteron-4x2: 5.3 GB/s a memory, links 0.6 of it, latencies 1 : 1.4 : 1.8, all assumed; "
            "a core's bandwidth over its memory's is varied; GB/s",
        ],
        "pages in turn where the cores of a busy node could draw more than its memory gives, and the "
        "links have room; else they only make each access longer. The limit is not at 1 but at the "
        "mean latency of all memories over the local one, here 1.4.",
        {"rows": values},
    )


# Forms of examples/triangular, and what they do.
TRIANGULAR = {
    "counted: blocks, touched alike": "triangular",
    "counted: chunks of 4 rows, touched in blocks": "triangular-misplaced",
    "counted: chunks of 4 rows, touched alike": "triangular-cured",
}


def counted_efficiency(lab: Lab, model: Model, program: str, threads: int) -> float:
    run = Run(f"triangular/{program}", ("2048",), ("--bind", "spread"))
    count = lab.count(f"lab:{threads}x1", run)
    return model.traffic_moved(count.path, "--set", "bandwidth=1") / threads


def triangular_loop(lab: Lab, model: Model) -> Problem:
    sizes = (2, 4, 8)
    words = ("--kernel", "load", "--shape", "triangular")

    def efficiency(*schedule: str) -> list[float]:
        return [model.moved(*domains(n), *words, "--schedule", *schedule) / n for n in sizes]

    rows = {
        "T/(2T-1)": [closed_forms.triangular_efficiency(n) for n in sizes],
        "static": efficiency("static"),
        "blocks of equal work (even)": efficiency("even"),
        "dynamic,16, pages in turn": efficiency("dynamic,16", "--memory", "interleave"),
        "guided,16, pages in turn": efficiency("guided,16", "--memory", "interleave"),
    }
    for name, program in TRIANGULAR.items():  # on more nodes short blocks would fit into caches
        rows[name] = [counted_efficiency(lab, model, program, n) for n in sizes[:2]]
    return Problem(
        "8.4",
        "a triangular loop in equal blocks of rows: how efficient, and what helps?",
        [("efficiency with", *(f"{n} threads" for n in sizes))]
        + [(name, *numbers(values), *["-"] * (len(sizes) - len(values))) for name, values in rows.items()],
        [
            "a domain and a thread each, row r has r + 1 elements; touched by the loop itself unless said",
            "for what is counted: examples/triangular in the lab, 2048 rows, where a row begins with a page",
        ],
        "the last block has (2T-1)/T^2 of the work. Chunks in turn balance it, blocks of equal work do "
        "so too and stay contiguous; both must be touched by the same map. Dynamic schedules balance "
        "work, but give up first touch (8.1).",
        {"threads": list(sizes), **rows},
    )


def object_loops(lab: Lab) -> Problem:
    machine, options = "lab:opteron-4x2", ("--bind", "spread", "--threads", "8")
    table = [("operator new[] touches", "local share of the loop", "pages on nodes 0, 1, 2, 3")]
    values = {}
    for form in ("by-object", "by-byte"):
        count = lab.count(machine, Run("objects", (form, "32", "2", "16"), options))
        shares = count.memory_shares()
        values[form] = count.local_share("loop")
        pages = ", ".join(f"{shares.get(node, 0):.0%}".replace("%", " %") for node in range(4))
        table.append((form.replace("-", " "), f"{values[form]:.1%}".replace("%", " %"), pages))
    return Problem(
        "8.5",
        "operator new[] touches an array of objects: why a loop over objects around one over bytes?",
        table,
        ["32 MiB of objects of 1 KiB, 8 threads on 4 nodes, static in chunks of 16; counted in the lab"],
        "one iteration must be one object, as in the loop that uses them. In a loop over bytes the same "
        "schedule deals out chunks of 16 bytes, pages are shared by all threads, and go to whoever is "
        "first.",
        values,
    )


def all_of(lab: Lab, model: Model) -> list[Problem]:
    return [
        dynamic_scheduling(model),
        chunk_sizes(chunk_rows(model)),
        few_threads(model),
        triangular_loop(lab, model),
        object_loops(lab),
    ]
