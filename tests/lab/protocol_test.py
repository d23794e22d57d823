# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What runner and guest say to each other, and how a command ends, without a virtual machine."""

import ast
import os
import re
import signal
import socket
import threading
import time
import types
import unittest

import lab
from nodewise_lab import job, protocol, relay
from nodewise_lab.errors import LabError, Reporter


class Protocol(unittest.TestCase):
    """guest/protocol.h and protocol.py hold the same numbers."""

    def setUp(self) -> None:
        self.header = (lab.ROOT / "lab/guest/protocol.h").read_text()

    def enumerators(self, prefix: str) -> dict[str, int]:
        found = re.findall(rf"^\s*{prefix}(\w+) = ([^,]+),", self.header, re.MULTILINE)
        return {
            name: eval(compile(ast.parse(value, mode="eval"), "h", "eval"), {})
            for name, value in found
        }

    def test_frame_types(self):
        in_header = {
            k: v for k, v in self.enumerators("FRAME_").items() if not re.search("_BYTES$|_MAX$", k)
        }
        self.assertEqual(in_header, {frame.name: frame.value for frame in protocol.FrameType})

    def test_streams(self):
        in_header = {k: v for k, v in self.enumerators("STREAM_").items() if k != "WINDOW"}
        self.assertEqual(in_header, {stream.name: stream.value for stream in protocol.Stream})

    def test_sizes_and_names(self):
        sizes = self.enumerators("FRAME_")
        for name in ("HEADER_BYTES", "DATA_BYTES", "PAYLOAD_MAX"):
            self.assertEqual(sizes[name], getattr(protocol, f"FRAME_{name}"), name)
        self.assertEqual(self.enumerators("STREAM_")["WINDOW"], protocol.STREAM_WINDOW)
        for name, value in re.findall(r'#define (\w+) "(\w+)"', self.header):
            self.assertEqual(getattr(protocol, name), value)

    def test_frames_survive_being_cut_anywhere(self):
        sent = [
            (protocol.FrameType.STDOUT, b"abc"),
            (protocol.FrameType.READY, b""),
            (protocol.FrameType.EXIT, b"1234"),
        ]
        stream = b"".join(protocol.encode(*frame) for frame in sent)
        decoder = protocol.Decoder()
        received = [frame for i in range(len(stream)) for frame in decoder.feed(stream[i : i + 1])]
        self.assertEqual(received, sent)

    def test_job_keys_are_documented(self):
        documented = set(re.findall(r"\b([a-z_]+)=", (lab.ROOT / "lab/guest/job.h").read_text()))
        payload = job.describe(["true"], job.Settings(), "m").split(b"\0")
        used = {entry.split(b"=")[0].decode() for entry in payload if entry}
        self.assertLessEqual(used, documented)


class TimeLimit(unittest.TestCase):
    """After the time limit the command is asked to end, where it has time for that."""

    class Machine:
        def __init__(self) -> None:
            self.port, self.guest = socket.socketpair()
            self.decoder = protocol.Decoder()

        def console_text(self) -> str:
            return ""

    def relay(self, grace: float) -> tuple["TimeLimit.Machine", relay.Relay]:
        machine = self.Machine()
        self.addCleanup(machine.port.close)
        self.addCleanup(machine.guest.close)
        nothing = os.open(os.devnull, os.O_RDWR)
        self.addCleanup(os.close, nothing)
        inbox = types.SimpleNamespace(fd=os.eventfd(0), take=list)
        self.addCleanup(os.close, inbox.fd)
        gone = time.monotonic() - 1
        return machine, relay.Relay(machine, inbox, Reporter(), gone, (nothing, nothing, nothing), grace)

    def test_without_grace_it_ends_at_once(self):
        _, started = self.relay(0)
        with self.assertRaises(LabError) as caught:
            started.run(b"")
        self.assertEqual(caught.exception.status, 124)

    def test_with_grace_the_command_gets_a_signal_and_may_write(self):
        machine, started = self.relay(600)
        got = []

        def guest() -> None:
            decoder = protocol.Decoder()
            while not any(frame == protocol.FrameType.SIGNAL for frame, _ in got):
                got.extend(decoder.feed(machine.guest.recv(4096)))
            machine.guest.send(protocol.encode_integers(protocol.FrameType.EXIT, 0))

        thread = threading.Thread(target=guest)
        thread.start()
        with self.assertRaises(LabError) as caught:
            started.run(b"")
        thread.join()
        self.assertEqual(caught.exception.status, 124)
        signals = [payload for frame, payload in got if frame == protocol.FrameType.SIGNAL]
        self.assertEqual([protocol.integers(each, 1)[0] for each in signals], [signal.SIGTERM])


class Ends(unittest.TestCase):
    """A machine that is a socket, and a caller without streams."""

    def relay(self, *frames: bytes) -> relay.Relay:
        port, guest = socket.socketpair()
        nothing = os.open(os.devnull, os.O_RDWR)
        self.addCleanup(os.close, nothing)
        for end in (port, guest):
            self.addCleanup(end.close)
        guest.sendall(b"".join(frames))
        virtual = types.SimpleNamespace(port=port, decoder=protocol.Decoder(), console_text=lambda: b"")
        inbox = types.SimpleNamespace(fd=self.silent(), take=list)
        return relay.Relay(virtual, inbox, Reporter(), 0.0, (nothing,) * 3)

    def silent(self) -> int:
        """A pipe that nothing comes through."""
        ends = os.pipe()
        for end in ends:
            self.addCleanup(os.close, end)
        return ends[0]

    def test_an_end_that_comes_when_time_is_up_is_no_timeout(self):
        ended = protocol.encode_integers(protocol.FrameType.EXIT, 3 << 8)
        self.assertEqual(self.relay(ended).run(b""), 3)

    def test_time_is_up_where_no_end_has_come(self):
        with self.assertRaisesRegex(LabError, "cannot run the command to its end: the time limit was reached"):
            self.relay().run(b"")


if __name__ == "__main__":
    unittest.main()
