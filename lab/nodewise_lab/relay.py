# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Passes the command's streams and signals between the caller and the guest, and returns its status."""

import errno
import os
import selectors
import shutil
import signal
import time
from dataclasses import dataclass, field

from . import protocol
from .errors import STATUS_TIMEOUT, LabError, Reporter
from .protocol import FrameType, Stream
from .signals import Inbox
from .vm import VirtualMachine, failure_of_guest

_TICK_SECONDS = 0.2
_IMPATIENCE_SECONDS = 1.0
# A signal to the process group arrives twice: from its sender, and from the `nodewise` command.
_SAME_INTERRUPT_SECONDS = 0.2
# After poll(2), a pipe or terminal accepts at least this much without waiting.
_SAFE_WRITE_BYTES = 4096


@dataclass
class _Sink:
    """One of the caller's output streams."""

    fd: int
    stream: Stream
    waiting: bytearray = field(default_factory=bytearray)
    open: bool = True


@dataclass
class Relay:
    """Runs one job on one machine. `fds` are the caller's stdin, stdout and stderr."""

    machine: VirtualMachine
    inbox: Inbox
    reporter: Reporter
    deadline: float | None
    fds: tuple[int, int, int] = (0, 1, 2)
    grace_seconds: float = 0

    def __post_init__(self) -> None:
        self._overdue = False  # the time limit was reached, and the command got SIGTERM
        self._stdin_fd = self.fds[0]
        self._sinks = {
            FrameType.STDOUT: _Sink(self.fds[1], Stream.STDOUT),
            FrameType.STDERR: _Sink(self.fds[2], Stream.STDERR),
        }
        self._stdin_credit = protocol.STREAM_WINDOW
        self._stdin_open = True
        self._to_guest = bytearray()
        self._wait_status: int | None = None
        self._last_interrupt = 0.0
        self._console_shown = 0

    def run(self, job: bytes) -> int:
        """The command's status: an exit code, or minus the number of the signal that ended it."""
        self._send(protocol.encode(FrameType.JOB, job))
        self.machine.port.setblocking(False)
        while not self._finished():
            self._step()
        self._show_console()
        if self._overdue:
            raise _overdue()
        return os.waitstatus_to_exitcode(self._wait_status)

    def _finished(self) -> bool:
        return self._wait_status is not None and not any(sink.waiting for sink in self._sinks.values())

    def _step(self) -> None:
        with selectors.PollSelector() as selector:
            self._register(selector)
            ready = {key.fd: events for key, events in selector.select(_TICK_SECONDS)}
        self._forward_signals()
        port = ready.get(self.machine.port.fileno(), 0)
        if port & selectors.EVENT_READ:
            self._receive()
        if port & selectors.EVENT_WRITE:
            self._send(b"")
        if self._stdin_fd in ready and self._stdin_open and self._stdin_credit > 0:
            self._read_stdin()
        for sink in self._sinks.values():
            if sink.waiting and ready.get(sink.fd, 0):
                self._write_output(sink)
        self._watch()

    def _register(self, selector: selectors.BaseSelector) -> None:
        wanted = {self.inbox.fd: selectors.EVENT_READ}
        if self._wait_status is None:
            to_port = selectors.EVENT_WRITE if self._to_guest else 0
            wanted[self.machine.port.fileno()] = selectors.EVENT_READ | to_port
            # Unsent frames mean that the guest is busy: more input would only fill memory.
            if self._stdin_open and self._stdin_credit > 0 and not self._to_guest:
                wanted[self._stdin_fd] = selectors.EVENT_READ
        for sink in self._sinks.values():
            if sink.waiting:
                wanted[sink.fd] = wanted.get(sink.fd, 0) | selectors.EVENT_WRITE
        for fd, events in wanted.items():
            selector.register(fd, events)

    def _send(self, frames: bytes) -> None:
        self._to_guest += frames
        try:
            sent = self.machine.port.send(self._to_guest) if self._to_guest else 0
        except OSError:
            return  # it is full; or QEMU has ended, and reading the port reports it, with the reason
        del self._to_guest[:sent]

    def _receive(self) -> None:
        try:
            data = self.machine.port.recv(1 << 18)
        except BlockingIOError:
            return
        except OSError:
            data = b""
        if not data:
            raise self.machine.failure("cannot run the command to its end", "the virtual machine ended first")
        for frame, payload in self.machine.decoder.feed(data):
            self._handle(frame, payload)

    def _handle(self, frame: FrameType, payload: bytes) -> None:
        if sink := self._sinks.get(frame):
            if sink.open:
                # Written when poll reports that it fits: signals must not wait for a slow reader.
                sink.waiting += payload
        elif frame == FrameType.CREDIT:
            self._stdin_credit += protocol.integers(payload, 2)[1]
        elif frame == FrameType.STDIN_CLOSED:
            self._stdin_open = False
        elif frame == FrameType.NOTE:
            self.reporter.note(payload.decode(errors="replace"))
        elif frame == FrameType.FAILURE:
            raise failure_of_guest(payload)
        elif frame == FrameType.EXIT:
            (self._wait_status,) = protocol.integers(payload, 1)

    def _read_stdin(self) -> None:
        try:
            data = os.read(self._stdin_fd, min(self._stdin_credit, protocol.FRAME_DATA_BYTES))
        except BlockingIOError:
            return
        except OSError:  # a closed descriptor or a terminal of another session: there is no input
            data = b""
        if data:
            self._stdin_credit -= len(data)
            self._send(protocol.encode(FrameType.STDIN, data))
        else:
            self._stdin_open = False
            self._send(protocol.encode(FrameType.STDIN_END))

    def _write_output(self, sink: _Sink) -> None:
        try:
            written = os.write(sink.fd, sink.waiting[:_SAFE_WRITE_BYTES])
        except BlockingIOError:
            return
        except OSError as error:
            self._output_lost(sink, error)
            return
        del sink.waiting[:written]
        if self._wait_status is None:
            self._send(protocol.encode_integers(FrameType.CREDIT, sink.stream, written))

    def _output_lost(self, sink: _Sink, error: OSError) -> None:
        """Closes the guest's pipe, too, so that the command gets the same error as on the host."""
        if error.errno != errno.EPIPE:
            self.reporter.warning(f"the rest of the command's {sink.stream.name.lower()} is lost: {error.strerror}")
        sink.open = False
        sink.waiting.clear()
        self._send(protocol.encode_integers(FrameType.OUTPUT_CLOSED, sink.stream))

    def _forward_signals(self) -> None:
        for number in self.inbox.take():
            if number == signal.SIGWINCH:
                size = shutil.get_terminal_size()
                self._send(protocol.encode_integers(FrameType.WINDOW, size.lines, size.columns))
                continue
            if number == signal.SIGINT:
                since = time.monotonic() - self._last_interrupt
                if since < _SAME_INTERRUPT_SECONDS:
                    continue
                if since < _IMPATIENCE_SECONDS:
                    self.reporter.note("interrupted twice: ending the virtual machine")
                    self._wait_status = int(signal.SIGINT)
                    return
                self._last_interrupt = time.monotonic()
            self._send(protocol.encode_integers(FrameType.SIGNAL, number))

    def _show_console(self) -> None:
        if self.reporter.verbose:
            text = self.machine.console_text()
            self.reporter.raw(text[self._console_shown :])
            self._console_shown = len(text)

    def _watch(self) -> None:
        self._show_console()
        if self.deadline is None or time.monotonic() <= self.deadline or self._finished():
            return  # a command that ends in the same step has met its limit
        if self._overdue or not self.grace_seconds:
            raise _overdue()
        self._overdue = True
        self.deadline += self.grace_seconds
        self._send(protocol.encode_integers(FrameType.SIGNAL, signal.SIGTERM))


def _overdue() -> LabError:
    hint = "give it more time: --on-timeout SECONDS (0: no limit)"
    return LabError("cannot run the command to its end", "the time limit was reached", hint, STATUS_TIMEOUT)
