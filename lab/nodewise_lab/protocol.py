# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The host's end of the frame protocol; guest/protocol.h describes it and has the same numbers."""

import enum
import struct


class FrameType(enum.IntEnum):
    READY = 1
    JOB = 2
    STARTED = 3
    STDIN = 4
    STDIN_END = 5
    STDOUT = 6
    STDERR = 7
    CREDIT = 8
    SIGNAL = 9
    WINDOW = 10
    STDIN_CLOSED = 11
    NOTE = 12
    FAILURE = 13
    EXIT = 14
    OUTPUT_CLOSED = 15


class Stream(enum.IntEnum):
    STDIN = 0
    STDOUT = 1
    STDERR = 2


FRAME_HEADER_BYTES = 5
FRAME_DATA_BYTES = 32768 - 5
FRAME_PAYLOAD_MAX = 16777216
STREAM_WINDOW = 262144

PORT_NAME = "nodewise"
HOST_ROOT_TAG = "hostroot"
WORK_TAG = "work"

_HEADER = struct.Struct("<BI")


def encode(frame: FrameType, payload: bytes = b"") -> bytes:
    return _HEADER.pack(frame, len(payload)) + payload


def encode_integers(frame: FrameType, *values: int) -> bytes:
    return encode(frame, struct.pack(f"<{len(values)}I", *values))


def integers(payload: bytes, count: int) -> tuple[int, ...]:
    return struct.unpack_from(f"<{count}I", payload)


class Decoder:
    """Divides a stream of bytes into frames."""

    def __init__(self) -> None:
        self._received = bytearray()

    def feed(self, data: bytes) -> list[tuple[FrameType, bytes]]:
        self._received += data
        frames = []
        start = 0
        while len(self._received) - start >= FRAME_HEADER_BYTES:
            kind, size = _HEADER.unpack_from(self._received, start)
            end = start + FRAME_HEADER_BYTES + size
            if len(self._received) < end:
                break
            frames.append((FrameType(kind), bytes(self._received[start + FRAME_HEADER_BYTES : end])))
            start = end
        del self._received[:start]
        return frames
