# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Sets the caller's terminal to raw mode, because the guest's pseudo terminal interprets the keys."""

import contextlib
import os
import termios
import tty
from collections.abc import Iterator

from .errors import LabError

_HINT = "start it from a terminal, or run a command without one: nodewise run --on lab:MACHINE -- COMMAND"


@contextlib.contextmanager
def raw(fd: int = 0) -> Iterator[None]:
    if not os.isatty(fd):
        raise LabError("cannot start a terminal (--tty)", "stdin is not a terminal", _HINT)
    before = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
