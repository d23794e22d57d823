# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""What the lab says when something goes wrong: what was asked, what the system answered, the cure."""

import sys
import unicodedata

STATUS_TIMEOUT = 124
STATUS_LAB_FAILED = 125


class LabError(Exception):
    """A failure of the lab itself, not of the command it runs."""

    def __init__(self, asked: str, answered: str, cure: str, status: int = STATUS_LAB_FAILED):
        super().__init__(asked, answered, cure)
        self.asked = asked
        self.answered = answered
        self.cure = cure
        self.status = status

    def __str__(self) -> str:
        return f"asked {self.asked}; system answered {self.answered}; cure: {self.cure}"


class Interrupted(Exception):
    """A signal arrived before the command was started."""

    def __init__(self, signal_number: int):
        super().__init__(signal_number)
        self.signal_number = signal_number


def reason(error: OSError) -> str:
    """The system's answer in its own words."""
    return error.strerror or str(error)


def printable(text: str) -> str:
    """With escapes in place of control characters, which names may hold and a terminal obeys."""
    return "".join(
        character if character in "\n\t" or _harmless(character) else _escape(character)
        for character in text
    )


def _harmless(character: str) -> bool:
    # Cc: C0, DEL and C1; Cs: bytes that were not UTF-8; the rest changes the direction of text.
    return unicodedata.category(character) not in ("Cc", "Cs", "Zl", "Zp") and unicodedata.bidirectional(
        character
    ) not in ("LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI")


def _escape(character: str) -> str:
    return "".join(f"\\x{byte:02x}" for byte in character.encode(errors="surrogateescape"))


class Reporter:
    """Texts for the user, on stderr; `quiet` keeps only what is an error or a warning."""

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
