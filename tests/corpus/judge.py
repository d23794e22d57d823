# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Runs a program of the corpus in the lab as a user would, and says what its plan is worth."""

import dataclasses
import json
import os
import subprocess
from pathlib import Path

import oracle
from axes import Spec
from build import ENDINGS, build, marked_lines

WITHIN = 1.1  # of the best placement's remote share
AS_GOOD_AS_NONE = 0.005
POINTS = 0.02  # between predicted and counted remote share
# On four nodes, of lines whose users chance deals out anew in each loop: less in one run is luck.
BY_CHANCE = 0.75
PATIENCE_S = 900


@dataclasses.dataclass
class Verdict:
    spec: Spec
    plain: float | None = None
    plan: float | None = None
    predicted: float | None = None
    proven: float | None = None
    best: float | None = None  # of plain and the best static map
    names_line: bool | None = None  # None: it was built without lines
    failure: str = ""

    @property
    def troubles(self) -> list[str]:
        if self.failure:
            return [self.failure]
        found = []
        if self.plan > max(WITHIN * self.best, AS_GOOD_AS_NONE):
            found.append(f"plan {self.plan:.1%} remote, best {self.best:.1%}")
        if self.predicted is not None and abs(self.predicted - self.proven) > POINTS:
            found.append(f"predicted {self.predicted:.1%}, proven {self.proven:.1%}")
        if self.names_line is False:
            found.append("no finding names the guilty line")
        return found


class Judge:
    def __init__(self, nodewise: Path, machine: str, folder: Path) -> None:
        self.nodewise, self.machine, self.folder = str(nodewise), machine, folder

    def call(self, *words: str, **variables: str) -> str:
        done = subprocess.run([self.nodewise, *words], stdin=subprocess.DEVNULL, capture_output=True, text=True,
                              timeout=PATIENCE_S, check=False, cwd=self.folder, env=os.environ | variables)  # fmt: skip
        if done.returncode != 0:
            raise RuntimeError(f"{' '.join(words)}: exit code {done.returncode}: {done.stderr[-500:]}")
        return done.stdout

    def profile(self, program: Path, *options: str, **variables: str) -> dict:
        words = ("profile", "--on", self.machine, "--quiet", "--json", *options, "--", str(program))
        text = self.call(*words, **variables)
        return json.loads(text[text.index('{\n  "schema": "nodewise/advice') :])

    def count(self, program: Path, *options: str) -> float:
        """The remote share of what a profile sees too: without the loader's work before the agent is there."""
        file = self.folder / f"{program.name}.counts.json"
        self.call("run", "--on", self.machine, "--quiet", "--on-counts", str(file), *options, "--", str(program))
        uses = [each["use"] for each in json.loads(file.read_text())["pages"] if each["pid"] != 0]
        local, remote = (sum(each[lines] for each in uses) for lines in ("local_fills", "remote_fills"))
        return remote / (local + remote)

    def uses(self, spec: Spec, program: Path) -> oracle.Uses:
        """With each thread on a processor of its own."""
        file = self.folder / f"{program.name}.profile.json"
        bind = "close" if spec.bind == "none" else spec.bind
        teams = {"OMP_NUM_THREADS": "4,2"} if spec.work == "nested" else {}
        self.profile(program, "--no-prove", "--bind", bind, "-o", str(file), **teams)
        return oracle.Uses(file)

    def best_static(self, spec: Spec, program: Path) -> float:
        """Of a dynamic schedule, the map of one run in another one, and no better than chance."""
        first = self.uses(spec, program)
        if spec.is_static:
            return first.remote(first.best_map())
        return max(BY_CHANCE, self.uses(spec, program).remote(first.best_map()))

    def judge(self, spec: Spec, name: str) -> Verdict:
        verdict = Verdict(spec)
        try:
            program = build(spec, self.folder, name)
            plan = str(self.folder / f"{name}.plan.json")
            bind = () if spec.bind == "none" else ("--bind", spec.bind)
            advice = self.profile(program, *bind, "--write-plan", plan)
            verdict.plain = remote_of(advice)
            verdict.predicted, verdict.proven = prediction_of(advice)
            verdict.plan = self.count(program, "--plan", plan)
            verdict.best = self.best_static(spec, program)
            if spec.is_static:
                verdict.best = min(verdict.best, verdict.plain)
            if spec.has_one_worker:
                verdict.best = max(verdict.best, verdict.plan)
            if spec.debug == "-g" and not spec.has_one_worker:
                source = self.folder / f"{name}.{ENDINGS[spec.language]}"
                lines = marked_lines(source, "made", "touch")
                verdict.names_line = any(line in json.dumps(advice["findings"]) for line in lines)
        except (RuntimeError, subprocess.SubprocessError, ValueError) as problem:
            verdict.failure = str(problem)
        return verdict


def remote_of(advice: dict) -> float:
    """Of all uses in the run that was profiled."""
    used = [each for each in advice["objects"] if each["used"] and isinstance(each["remote"], (int, float))]
    return sum(each["remote"] * each["used"] for each in used) / max(1, sum(each["used"] for each in used))


def prediction_of(advice: dict) -> tuple[float | None, float | None]:
    """The remote share of what became the plan: predicted, and counted when it was tried."""
    proof = advice.get("proof", {})
    best = next((each for each in proof.get("tried", []) if each["name"] == proof["best"]), None)
    return (best["predicted"]["remote"], best["counted"]["remote"]) if best else (None, None)
