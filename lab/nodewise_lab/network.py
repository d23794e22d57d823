# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The network of a virtual cluster: a switch in this process, to which the hosts' QEMUs are connected by sockets.

It needs no privileges, and nothing of it is visible on this machine's own network.
"""

import collections
import selectors
import socket
import threading

MOST_HOSTS = 64
_FRAME_BYTES = 1 << 16
_QUEUE_FRAMES = 4096  # further ones are lost, as in any switch
_WAKE_SECONDS = 0.2
_PREFIX = bytes((0x52, 0x54, 0x00, 0x6E, 0x77))  # and the host's number: guest/network.c


def address(number: int) -> str:
    """The host's internet address (guest/network.c)."""
    return f"10.0.0.{number}"


def device_arguments(fd: int) -> list[str]:
    """The network interface of a host. It gets its own addresses by the job, since hosts may share a snapshot."""
    return [
        "-netdev", f"dgram,id=net,local.type=fd,local.str={fd}",
        "-device", f"virtio-net-pci,netdev=net,romfile=,mac={_PREFIX.hex(':')}:00",
    ]  # fmt: skip


class _Port:
    """The switch's end of one host's cable."""

    def __init__(self, end: socket.socket):
        end.setblocking(False)
        self.end = end
        self.waiting: collections.deque[bytes] = collections.deque(maxlen=_QUEUE_FRAMES)

    def send(self, frame: bytes) -> None:
        if self.waiting:
            self.waiting.append(frame)
            return
        try:
            self.end.send(frame)
        except BlockingIOError:
            self.waiting.append(frame)
        except OSError:
            pass  # this host has ended

    def send_waiting(self) -> None:
        pending, self.waiting = self.waiting, collections.deque(maxlen=_QUEUE_FRAMES)
        for frame in pending:
            self.send(frame)


class Switch(threading.Thread):
    """Forwards frames between the hosts 1 to `count` until the context ends."""

    def __init__(self, count: int):
        super().__init__(name="switch", daemon=True)
        pairs = [socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM) for _ in range(count)]
        self._of_qemu = [pair[1] for pair in pairs]
        self._ports = [_Port(pair[0]) for pair in pairs]
        self._ended = False

    def fd_of(self, number: int) -> int:
        """What the host's QEMU inherits."""
        return self._of_qemu[number - 1].fileno()

    def __enter__(self) -> "Switch":
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._ended = True
        self.join()
        for end in (*self._of_qemu, *(port.end for port in self._ports)):
            end.close()

    def run(self) -> None:
        while not self._ended:
            with selectors.PollSelector() as selector:
                for port in self._ports:
                    writing = selectors.EVENT_WRITE if port.waiting else 0
                    selector.register(port.end, selectors.EVENT_READ | writing, port)
                ready = selector.select(_WAKE_SECONDS)
            for key, events in ready:
                if events & selectors.EVENT_WRITE:
                    key.data.send_waiting()
                if events & selectors.EVENT_READ:
                    self._take(key.data)

    def _take(self, port: _Port) -> None:
        """Forwards what has arrived at a port."""
        while True:
            try:
                frame = port.end.recv(_FRAME_BYTES)
            except OSError:
                return
            for other in self._receivers(frame, port):
                other.send(frame)

    def _receivers(self, frame: bytes, sender: _Port) -> list[_Port]:
        """The host that the frame is for; all others for a broadcast."""
        if frame[:5] == _PREFIX:
            return self._ports[frame[5] - 1 : frame[5]] if frame[5] else []
        return [port for port in self._ports if port is not sender]
