# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""If root runs QEMU, the guest sets no setuid or setgid bits of files on the host.

A seccomp filter stops QEMU when it sets such a mode, and this process sets the mode without these bits
instead (seccomp_unotify(2)). QEMU opens files by descriptor numbers, so no path is looked up again.
"""

import contextlib
import ctypes
import errno
import fcntl
import os
import select
import socket
import stat
import struct
import threading
from dataclasses import dataclass

_SPECIAL = stat.S_ISUID | stat.S_ISGID

_PR_SET_NO_NEW_PRIVS = 38
_SECCOMP_SET_MODE_FILTER = 1
_NEW_LISTENER = 1 << 3
_ALLOW, _NOTIFY, _REFUSE = 0x7FFF0000, 0x7FC00000, 0x00050000 | errno.EPERM
_CONTINUE = 1
# struct seccomp_notif: id, pid, flags, then nr, arch, instruction_pointer, args[6]
_NOTIFICATION = struct.Struct("<QII iIQ6Q")
_RESPONSE = struct.Struct("<QqiI")
_RECEIVE, _SEND, _STILL_VALID = 0xC0502100, 0xC0182101, 0x40082102

_LOAD, _EQUALS, _ANY_BIT, _RETURN = 0x20, 0x15, 0x45, 0x06
_FIRST_ARGUMENT = 16  # in struct seccomp_data; each has 8 bytes
_AT_FDCWD = -100


@dataclass(frozen=True)
class _Call:
    number: int
    mode_at: int  # the argument that is the mode
    path_at: int | None = None  # None: the first argument is a descriptor
    directory_at: int | None = None


@dataclass(frozen=True)
class _Architecture:
    audit: int
    seccomp: int
    changing: tuple[_Call, ...]  # chmod and its family
    making: tuple[_Call, ...]  # refused with such a mode, because no program needs it


_FCHMODAT2 = _Call(452, 2, 1, 0)
_ARCHITECTURES = {
    "x86_64": _Architecture(
        0xC000003E, 317,
        (_Call(90, 1, 0), _Call(91, 1), _Call(268, 2, 1, 0), _FCHMODAT2),
        (_Call(2, 2), _Call(85, 1), _Call(257, 3), _Call(133, 1), _Call(259, 2)),
    ),
    "aarch64": _Architecture(
        0xC00000B7, 277,
        (_Call(52, 1), _Call(53, 2, 1, 0), _FCHMODAT2),
        (_Call(56, 3), _Call(33, 2)),
    ),
}  # fmt: skip


def _filter(of: _Architecture) -> bytes:
    def each(code: int, value: int, yes: int = 0, no: int = 0) -> bytes:
        return struct.pack("<HBBI", code, yes, no, value)

    program = each(_LOAD, 4) + each(_EQUALS, of.audit, 1, 0) + each(_RETURN, _ALLOW)
    for calls, action in ((of.changing, _NOTIFY), (of.making, _REFUSE)):
        for call in calls:
            program += each(_LOAD, 0) + each(_EQUALS, call.number, 0, 4)
            program += each(_LOAD, _FIRST_ARGUMENT + 8 * call.mode_at)
            program += each(_ANY_BIT, _SPECIAL, 0, 1) + each(_RETURN, action)
            program += each(_RETURN, _ALLOW)
    return program + each(_RETURN, _ALLOW)


class ModeGuard:
    """Guards one QEMU. Its process calls `install` before it becomes QEMU; this process calls `watch` then."""

    def __init__(self) -> None:
        self.stripped: list[str] = []  # files whose bits were left out
        self.missing = ""  # the reason why modes are not watched
        self._architecture = _ARCHITECTURES.get(os.uname().machine)
        self._here, self._there = socket.socketpair()
        self._program = _filter(self._architecture) if self._architecture else b""
        self._buffer = ctypes.create_string_buffer(self._program, len(self._program) or 1)
        # struct sock_fprog: a length and a pointer
        address = ctypes.addressof(self._buffer)
        self._description = ctypes.create_string_buffer(struct.pack("@HP", len(self._program) // 8, address))
        self._libc = ctypes.CDLL(None, use_errno=True)
        self._thread: threading.Thread | None = None
        self._listener = -1

    def install(self) -> None:
        if not self._architecture:
            self._there.send(b"the processor's architecture is not supported")
            return
        self._libc.prctl(_PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
        listener = self._libc.syscall(
            self._architecture.seccomp, _SECCOMP_SET_MODE_FILTER, _NEW_LISTENER, self._description
        )
        if listener < 0:
            self._there.send(os.strerror(ctypes.get_errno()).encode())
        else:
            socket.send_fds(self._there, [b"+"], [listener])

    def watch(self) -> None:
        self._there.close()
        with self._here:
            answer, descriptors, _, _ = socket.recv_fds(self._here, 200, 1)
        if not descriptors:
            self.missing = answer.decode() or "QEMU did not start"
            return
        self._listener = descriptors[0]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._thread.start()

    def end(self) -> None:
        """Call it when QEMU has ended."""
        self._here.close()
        self._there.close()
        if self._thread:
            self._thread.join()
            os.close(self._listener)
            self._thread = None

    def _serve(self) -> None:
        poll = select.poll()
        poll.register(self._listener, select.POLLIN)
        while poll.poll()[0][1] & select.POLLIN:  # a hang-up: QEMU has ended
            request = bytearray(_NOTIFICATION.size)
            with contextlib.suppress(OSError):  # QEMU has ended
                fcntl.ioctl(self._listener, _RECEIVE, request)
                fcntl.ioctl(self._listener, _SEND, bytearray(self._answer(bytes(request))))

    def _answer(self, request: bytes) -> bytes:
        id, pid, _, number, _, _, *arguments = _NOTIFICATION.unpack(request)
        assert self._architecture is not None
        call = next(call for call in self._architecture.changing if call.number == number)
        try:
            target = _target(pid, call, arguments)
            fcntl.ioctl(self._listener, _STILL_VALID, struct.pack("<Q", id))
            done = self._change(target, arguments[call.mode_at] & 0o7777)
        except OSError as error:
            return _RESPONSE.pack(id, 0, -(error.errno or errno.EPERM), 0)
        return _RESPONSE.pack(id, 0, 0, 0 if done else _CONTINUE)

    def _change(self, target: str, mode: int) -> bool:
        """False: QEMU may do it itself. A directory's setgid bit only sets the group of its new files."""
        by_number = "/fd/" in target and target.rpartition("/")[2].isdigit()
        file = os.open(target, os.O_PATH | os.O_CLOEXEC | (0 if by_number else os.O_NOFOLLOW))
        try:
            kind = os.fstat(file).st_mode
            if stat.S_ISDIR(kind):
                return False
            if stat.S_ISLNK(kind):
                raise OSError(errno.EOPNOTSUPP, "a link")
            own = f"/proc/self/fd/{file}"
            os.chmod(own, mode & ~_SPECIAL)
            if (name := os.readlink(own)) not in self.stripped:
                self.stripped.append(name)
            return True
        finally:
            os.close(file)


def _target(pid: int, call: _Call, arguments: list[int]) -> str:
    if call.path_at is None:
        return f"/proc/{pid}/fd/{arguments[0]}"
    path = _text(pid, arguments[call.path_at])
    if path.startswith("/proc/self/fd/"):
        return f"/proc/{pid}/fd/{path.rpartition('/')[2]}"
    directory = _AT_FDCWD
    if call.directory_at is not None:
        directory = ctypes.c_int(arguments[call.directory_at] & 0xFFFFFFFF).value
    base = f"/proc/{pid}/cwd" if directory == _AT_FDCWD else f"/proc/{pid}/fd/{directory}"
    return path if path.startswith("/") else f"{base}/{path}" if path else base


def _text(pid: int, address: int) -> str:
    with open(f"/proc/{pid}/mem", "rb", buffering=0) as memory:
        text = b""
        while b"\0" not in text and len(text) < 4096:
            # Reads up to the end of the page: the next page may not be mapped.
            at = address + len(text)
            part = os.pread(memory.fileno(), 4096 - at % 4096, at)
            if not part:
                break
            text += part
        return os.fsdecode(text.partition(b"\0")[0])
