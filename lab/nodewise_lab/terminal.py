# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The caller's terminal while the guest's pseudo terminal interprets the keys."""

import contextlib
import os
import termios
import tty
from collections.abc import Iterator

from .errors import LabError


@contextlib.contextmanager
def raw(fd: int = 0) -> Iterator[None]:
    if not os.isatty(fd):
        raise LabError("for a terminal (--tty)", "stdin is none", "run without --tty")
    before = termios.tcgetattr(fd)
    tty.setraw(fd)
    try:
        yield
    finally:
        termios.tcsetattr(fd, termios.TCSADRAIN, before)
