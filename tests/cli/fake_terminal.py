# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A terminal that answers questions about itself, and the pictures in what it got.

It answers before it is asked, so that no time limit matters: what is typed stays until a process reads it."""

import base64
import fcntl
import os
import pty
import re
import struct
import termios
import zlib

from command import COMMAND, environment

# Answers about primary device attributes, the last question.
NO_IMAGES = b"\x1b[?62;22c"
SIXEL = b"\x1b[?62;4;22c"
KITTY = b"\x1b_Gi=31;OK\x1b\\" + NO_IMAGES
INTERRUPT = b"\x03"
# Of the terminal in which the tests run.
NAMES = ("TMUX", "STY", "KITTY_WINDOW_ID", "TERM_PROGRAM", "LC_TERMINAL", "COLORFGBG")


class Seen:
    """How a command ended, every byte that its terminal got, and the modes of the terminal before and after."""

    def __init__(self, *arguments, answer=NO_IMAGES, pixels=0, **variables):
        kept = {name: value for name, value in environment(**variables).items() if name in variables or name not in NAMES}
        leader, follower = pty.openpty()
        fcntl.ioctl(leader, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, pixels, pixels))
        if INTERRUPT in answer:  # a character, until the command itself reads it
            modes = termios.tcgetattr(follower)
            modes[3] &= ~termios.ISIG
            termios.tcsetattr(follower, termios.TCSANOW, modes)
        self.before = termios.tcgetattr(follower)
        os.write(leader, answer)
        pid = os.fork()
        if pid == 0:
            self._take(follower)
            os.execve(COMMAND, [COMMAND, *arguments], kept)
        self.bytes = b""
        os.close(follower)
        try:
            while piece := os.read(leader, 65536):
                self.bytes += piece
        except OSError:
            pass  # the end of a terminal
        _, status = os.waitpid(pid, 0)
        self.code = os.waitstatus_to_exitcode(status)
        self.after = termios.tcgetattr(leader)
        os.close(leader)

    @staticmethod
    def _take(follower):
        os.setsid()
        fcntl.ioctl(follower, termios.TIOCSCTTY, 0)
        for descriptor in range(3):
            os.dup2(follower, descriptor)

    @property
    def text(self):
        return self.bytes.decode(errors="replace").replace("\r\n", "\n")

    def kitty_parts(self):
        """The keys and the data of each part of the image; the question about the protocol is none."""
        parts = re.findall(rb"\x1b_G([^;]*);([^\x1b]*)\x1b\\", self.bytes)
        keys = [dict(each.split("=") for each in keys.decode().split(",")) for keys, _ in parts]
        return [(key, data) for key, (_, data) in zip(keys, parts) if key.get("a") != "q"]

    def iterm2_image(self):
        """The announced size, and the image."""
        found = re.search(rb"\x1b\]1337;File=inline=1;size=(\d+):([^\a]*)\a", self.bytes)
        return int(found[1]), base64.b64decode(found[2], validate=True)

    def sixel_image(self):
        return re.search(rb"\x1bP[\d;]*q.*?\x1b\\", self.bytes, re.DOTALL)[0]


class Png:
    """An image of 8 bits a channel: its size, and the colour of its first pixel."""

    def __init__(self, data):
        assert data[:8] == b"\x89PNG\r\n\x1a\n", data[:8]
        at, pixels = 8, b""
        while at < len(data):
            length, kind = struct.unpack(">I4s", data[at : at + 8])
            content = data[at + 8 : at + 8 + length]
            assert struct.unpack(">I", data[at + 8 + length : at + 12 + length])[0] == zlib.crc32(kind + content), kind
            if kind == b"IHDR":
                self.width, self.height, depth, colour = struct.unpack(">IIBB", content[:10])
                channels = {2: 3, 6: 4}[colour]
                assert depth == 8
            pixels += content if kind == b"IDAT" else b""
            at += 12 + length
        pixels = zlib.decompress(pixels)
        assert kind == b"IEND" and len(pixels) == self.height * (1 + channels * self.width)
        self.size = (self.width, self.height)
        self.first_pixel = tuple(pixels[1:4])  # no filter changes the first one
