# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Shows one line on a terminal while a task takes longer than two seconds, and erases it at the end."""

import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TextIO

from .errors import Reporter

_QUIET_SECONDS = 2.0
_REDRAW_SECONDS = 0.5
_ERASE_LINE = "\r\x1b[K"
TICK_SECONDS = 0.5  # call `tick` at least this often


@dataclass
class Progress:
    """A context manager without a thread: the line changes when `tick` is called."""

    what: str
    reporter: Reporter
    stream: TextIO = field(default_factory=lambda: sys.stderr)
    now: Callable[[], float] = time.monotonic

    def __post_init__(self) -> None:
        # With --verbose the guest's console is shown instead.
        self._shown = not self.reporter.quiet and not self.reporter.verbose and self.stream.isatty()
        self._started = self.now()
        self._next = self._started + _QUIET_SECONDS
        self._drawn = False

    def __enter__(self) -> "Progress":
        return self

    def __exit__(self, *_: object) -> None:
        if self._drawn:
            self._write(_ERASE_LINE)

    def tick(self) -> None:
        if self._shown and self.now() >= self._next:
            self._next = self.now() + _REDRAW_SECONDS
            self._drawn = True
            self._write(f"{_ERASE_LINE}{self.what}  {self.now() - self._started:.0f} s")

    def _write(self, text: str) -> None:
        self.stream.write(text)
        self.stream.flush()
