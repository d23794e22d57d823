# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""QEMU's control channel: sends commands and file descriptors, and reads the answers."""

import json
import socket
import time
from typing import Any


class QmpError(Exception):
    """QEMU refused a command or has ended."""


class Qmp:
    def __init__(self, connection: socket.socket):
        self._connection = connection
        self._received = b""
        self._message()  # the greeting
        self.execute("qmp_capabilities")

    def execute(self, command: str, **arguments: Any) -> Any:
        return self._send(command, arguments, [])

    def hand_over(self, name: str, fd: int) -> None:
        """Passes a descriptor to QEMU; later commands name it fd:NAME."""
        self._send("getfd", {"fdname": name}, [fd])

    def wait_for_migration(self, seconds: float = 60) -> None:
        """Waits until the command migrate or migrate-incoming has succeeded."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            state = self.execute("query-migrate")
            if state.get("status") == "completed":
                return
            if state.get("status") in ("failed", "cancelled"):
                raise QmpError(state.get("error-desc", "QEMU gave no reason"))
            time.sleep(0.003)
        raise QmpError(f"the migration was not complete after {seconds:g} s")

    def _send(self, command: str, arguments: dict[str, Any], fds: list[int]) -> Any:
        request: dict[str, Any] = {"execute": command}
        if arguments:
            request["arguments"] = {key.replace("_", "-"): value for key, value in arguments.items()}
        try:
            socket.send_fds(self._connection, [json.dumps(request).encode()], fds)
        except OSError as error:
            raise QmpError(f"{command}: QEMU has ended ({error.strerror})") from error
        while True:
            answer = self._message()
            if "error" in answer:
                raise QmpError(f"{command}: {answer['error'].get('desc')}")
            if "return" in answer:
                return answer["return"]
            # All other messages are events, which are not needed.

    def _message(self) -> dict[str, Any]:
        while b"\n" not in self._received:
            try:
                data = self._connection.recv(65536)
            except OSError as error:
                raise QmpError(f"QEMU does not answer ({error})") from error
            if not data:
                raise QmpError("QEMU ended")
            self._received += data
        line, _, self._received = self._received.partition(b"\n")
        return json.loads(line)
