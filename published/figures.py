# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Figures 8.4, 8.7 and 8.9 of Hager and Wellein as the model draws them, beside what is known of
the book's shapes: the published curves themselves are not available to us."""

import subprocess
from dataclasses import dataclass
from pathlib import Path

from cases import Run
from lab import Lab
from model import Model
from problems import CHUNKS, chunk_rows

OPTERON = "lab:opteron-4x2"
GIB = 2**30


@dataclass
class Curve:
    name: str
    points: list[tuple[float, float]]
    style: str = "linespoints ps 0.6 lw 2"  # gnuplot's


@dataclass
class Figure:
    path: Path
    title: str
    text: str
    curves: list[Curve]

    def as_json(self) -> dict:
        return {
            "path": str(self.path), "title": self.title, "text": self.text,
            "curves": {curve.name: curve.points for curve in self.curves},
        }  # fmt: skip


def plot(figure: Figure, x: str, y: str, *settings: str) -> None:
    """Writes the SVG. Throws CalledProcessError where gnuplot refuses."""
    script = [
        "set terminal svg size 720,440 font 'sans-serif,13' background 'white'",
        f"set output '{figure.path}'",
        f'set title "{figure.title}"',
        f'set xlabel "{x}"',
        f'set ylabel "{y}"',
        "set yrange [0:*]",
        "set key outside bottom center horizontal",
        "set grid ytics lc rgb '#dddddd'",
        *settings,
    ]
    for k, curve in enumerate(figure.curves):
        script += [f"$curve{k} << END", *(f"{a} {b}" for a, b in curve.points), "END"]
    curves = [
        f"$curve{k} using 1:2 with {curve.style} title '{curve.name}'"
        for k, curve in enumerate(figure.curves)
    ]
    script.append("plot " + ", ".join(curves))
    subprocess.run(["gnuplot"], input="\n".join(script) + "\n", text=True, check=True)


TOUCHES = {"parallel first touch": ("local", "parallel"), "pages in turn": ("interleave", "pages"),
           "all pages in LD0": ("serial", "serial")}  # fmt: skip


def counted(lab: Lab, model: Model, touch: str, threads: int) -> float:
    """GB/s by STREAM's count of the vector triad that the lab counted."""
    options = ("--bind", "spread", "--threads", str(threads))
    count = lab.count(OPTERON, Run("vector-triad", (touch, "16", "2"), options))
    seconds = model.traffic_seconds(count.path, "loop", "memory", "static", [])
    return count.stream_bytes["loop"] / seconds / 1e9


def first_touch(lab: Lab, model: Model, folder: Path) -> Figure:
    threads = list(range(1, 9))
    over = "threads=" + ",".join(map(str, threads))
    curves = []
    for name, (memory, touch) in TOUCHES.items():
        told = model.useful_sweep(over, "--input", OPTERON, "--kernel", "schoenauer", "--memory", memory)
        curves.append(Curve(name, list(zip(threads, told))))
        points = [(t, counted(lab, model, touch, t)) for t in (4, 8)]
        curves.append(Curve(f"{name}, counted in the lab", points, "points ps 1.4 pt 6"))
    figure = Figure(
        folder / "figure-8.4.svg",
        "Vector triad on four domains with two cores each (figure 8.4)",
        "The book's shape: with parallel first touch the loop scales over the domains; with all pages "
        "in LD0 it stays below what one domain alone gives; pages in turn lie between. Here: bandwidth "
        "by STREAM's count against threads, spread over the domains; lines are described loops, points "
        "are programs counted in the lab. Memories, links and latencies are assumed "
        "(lab/machines/opteron-4x2.json).",
        curves,
    )
    plot(figure, "threads", "GB/s, predicted")
    return figure


def chunk_size(model: Model, folder: Path) -> Figure:
    rows = chunk_rows(model)
    figure = Figure(
        folder / "figure-8.7.svg",
        "Vector triad, pages in turn over four domains (figure 8.7)",
        "The book's shape: a breakdown for chunks of 16 to 256 doubles, the best at a page (512), and "
        "about half the ideal for large chunks, where 75 % of a thread's pages are remote. Here: "
        "bandwidth in units of one domain's (the ideal is 4) against the chunk. An infinite network is "
        "assumed, and that a chunk costs what 16 elements do.",
        [Curve(name, list(zip(CHUNKS, values))) for name, values in rows.items()],
    )
    plot(figure, "doubles a chunk", "domains' bandwidth, predicted", "set logscale x 2")
    return figure


def file_cache(model: Model, folder: Path) -> Figure:
    memory, share = 8, 4  # GiB of a node; what the arrays want there
    points = []
    for eighths in range(0, 8 * memory):
        cached = eighths / 8
        free = int((memory - cached) * GIB)
        words = ("--input", OPTERON, "--kernel", "schoenauer", "--elements", "2^29", "--free", f"0={free}")
        points.append((cached, model.useful(*words)))
    figure = Figure(
        folder / "figure-8.9.svg",
        "Vector triad after a file of this size was cached on LD0 (figure 8.9)",
        "The book's shape: flat until what is left of LD0 is less than the arrays' share, then falling "
        f"while pages spill to other domains. Here: four arrays of 4 GiB, {share} GiB a domain of "
        f"{memory} GiB, 8 threads, first touch in parallel; bandwidth by STREAM's count. What does not "
        "fit goes to the nearest domain. Memories, links and latencies are assumed.",
        [Curve("static, first touch", points, "lines lw 2")],
    )
    plot(figure, "GiB of files on LD0", "GB/s, predicted")
    return figure


def draw(lab: Lab, model: Model, folder: Path) -> list[Figure]:
    return [first_touch(lab, model, folder), chunk_size(model, folder), file_cache(model, folder)]
