# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The lab's errors and messages: what failed, the reason, and a hint what to do."""

import sys
import unicodedata

_DIRECTIONS = ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")

STATUS_TIMEOUT = 124
STATUS_LAB_FAILED = 125

RETRY_HINT = (
    "run it again with --verbose; if it fails again, remove the machine's snapshot: nodewise lab cache remove KEY"
)


class LabError(Exception):
    """A failure of the lab itself, not of the command that it runs.

    `asked` states what failed ("cannot read the file X"), `answered` gives the reason.
    """

    def __init__(self, asked: str, answered: str, hint: str, status: int = STATUS_LAB_FAILED):
        super().__init__(asked, answered, hint)
        self.asked = asked
        self.answered = answered
        self.hint = hint
        self.status = status

    def __str__(self) -> str:
        return with_hint(f"{self.asked}: {self.answered}", self.hint)


class Interrupted(Exception):
    """A signal arrived before the command was started."""

    def __init__(self, signal_number: int):
        super().__init__(signal_number)
        self.signal_number = signal_number


def with_hint(text: str, hint: str) -> str:
    """The text and, in a second line, what to do."""
    return f"{text}\n    hint: {hint}"


def reason(error: OSError) -> str:
    """The system's own text for the error."""
    return error.strerror or str(error)


def printable(text: str) -> str:
    """Replaces control characters, which names may contain and terminals obey, by escapes."""
    return "".join(
        character if character in "\n\t" or _harmless(character) else _escape(character) for character in text
    )


def _harmless(character: str) -> bool:
    # Cc: C0, DEL and C1; Cs: bytes that were not UTF-8. The bidirectional classes change the direction of text.
    changes_direction = unicodedata.bidirectional(character) in _DIRECTIONS
    return unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") and not changes_direction


def _escape(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


class Reporter:
    """Prints messages for the user on stderr; `quiet` leaves only errors and warnings."""

    def __init__(self, quiet: bool = False, verbose: bool = False):
        self.quiet = quiet
        self.verbose = verbose

    def error(self, text: object) -> None:
        self._say(str(text))

    def warning(self, text: str) -> None:
        self._say(f"warning: {text}")

    def note(self, text: str) -> None:
        if not self.quiet:
            self._say(text)

    def detail(self, text: str) -> None:
        if self.verbose:
            self._say(text)

    @staticmethod
    def raw(text: str) -> None:
        if text:
            sys.stderr.write(printable(text))
            sys.stderr.flush()

    @staticmethod
    def _say(text: str) -> None:
        print(f"nodewise: lab: {printable(text)}", file=sys.stderr, flush=True)
