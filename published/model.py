# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""`nodewise model`, asked for numbers."""

import json
import subprocess
from pathlib import Path


class ModelError(Exception):
    """The command refused: what it said."""


class Model:
    def __init__(self, nodewise: Path):
        self._nodewise = nodewise

    def ask(self, *words: str) -> dict:
        """A document of schema nodewise/prediction/2."""
        command = [str(self._nodewise), "model", "--json", *words]
        done = subprocess.run(command, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise ModelError(f"{' '.join(command)} ended with {done.returncode}: {done.stderr}")
        return json.loads(done.stdout)

    def traffic_seconds(
        self, counts: Path, region: str, limit: str, schedule: str, sets: list[str]
    ) -> float:
        """Seconds of the region's traffic, if the machine's parameters are set so."""
        words = [str(counts), "--region", region, "--limit", limit, "--schedule", schedule]
        for each in sets:
            words += ["--set", each]
        return self.ask(*words)["predicted"]["seconds"]

    def traffic_moved(self, counts: Path, *words: str) -> float:
        """GB/s of the traffic that the file is judged by."""
        return self.ask(str(counts), *words)["predicted"]["moved_gb_per_s"]

    def useful(self, *words: str) -> float:
        """GB/s of a described loop by STREAM's count."""
        return self.ask(*words)["predicted"]["gb_per_s"]

    def moved(self, *words: str) -> float:
        """GB/s that it really moves."""
        return self.ask(*words)["predicted"]["moved_gb_per_s"]

    def sweep(self, over: str, *words: str) -> list[float]:
        """GB/s that really move, for each value of `over`, such as "chunk=4,16"."""
        return [each["predicted"]["moved_gb_per_s"] for each in self._points(over, words)]

    def useful_sweep(self, over: str, *words: str) -> list[float]:
        """The same by STREAM's count."""
        return [each["predicted"]["gb_per_s"] for each in self._points(over, words)]

    def _points(self, over: str, words: tuple[str, ...]) -> list[dict]:
        return self.ask("--sweep", over, *words)["points"]
