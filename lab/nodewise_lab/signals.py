# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Signals to the runner: they end it until the command runs, and go to the command from then on."""

import os
import resource
import signal
from types import FrameType

from .errors import Interrupted

_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)


class Inbox:
    """Signals for a command in a guest; `fd` is readable while there are some."""

    def __init__(self) -> None:
        self.fd, self._writer = os.pipe2(os.O_NONBLOCK | os.O_CLOEXEC)

    def put(self, number: int) -> None:
        """Any thread may call it."""
        os.write(self._writer, bytes((number,)))

    def take(self) -> list[int]:
        try:
            return list(os.read(self.fd, 512))
        except BlockingIOError:
            return []


class SignalInbox(Inbox):
    """The signals to this process. Installs the handlers until the process ends."""

    def __init__(self) -> None:
        super().__init__()
        self.forwarding = False
        signal.set_wakeup_fd(self._writer, warn_on_full_buffer=False)
        for number in _FORWARDED:
            # Signals that nohup(1) or a shell's background job ignores stay ignored.
            if signal.getsignal(number) != signal.SIG_IGN:
                signal.signal(number, self._handle)

    def watch_window_size(self) -> None:
        signal.signal(signal.SIGWINCH, self._handle)

    def _handle(self, number: int, _: FrameType | None) -> None:
        if not self.forwarding and number != signal.SIGWINCH:
            raise Interrupted(number)


def end_like(status: int) -> int:
    """Ends this process by the signal that ended the command, or returns the exit status."""
    if status >= 0:
        return status
    number = -status
    # The command may have left a core file; a core file of this interpreter is of no use.
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    try:
        if number not in (signal.SIGKILL, signal.SIGSTOP):
            signal.signal(number, signal.SIG_DFL)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, [number])
        os.kill(os.getpid(), number)
    except (OSError, ValueError):
        pass  # this interpreter or system does not know the number
    return 128 + number
