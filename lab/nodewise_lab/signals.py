# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Signals to the runner: before the command runs they end the runner, then they are the command's."""

import os
import resource
import signal
from types import FrameType

from .errors import Interrupted

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class SignalInbox:
    """Installs the handlers for the life of the process."""

    def __init__(self) -> None:
        self._forwarding = False
        self.fd, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in _FORWARDED:
            # nohup(1) and shells' background jobs have some ignored; that stays so.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    def watch_window_size(self) -> None:
        signal.signal(signal.SIGWINCH, self._handle)

    def start_forwarding(self) -> None:
        self._forwarding = True

    def take(self) -> list[int]:
        try:
            return list(os.read(self.fd, 512))
        except BlockingIOError:
            return []

    def _handle(self, number: int, _: FrameType | None) -> None:
        if not self._forwarding and number != signal.SIGWINCH:
            raise Interrupted(number)


def end_like(status: int) -> int:
    """Ends this process as the command ended. Returns an exit status where that is the way."""
    if status >= 0:
        return status
    number = -status
    # The command may have left a core file; one of this interpreter would help nobody.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    except (OSError, ValueError):
        pass  # a number that this interpreter or system does not take
    return 128 + number
