# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The plug-in's own error, for tests that fail without a comparison."""


class LabError(Exception):
    """What was asked, the reason why there is no answer, and what to do."""

    def __init__(self, asked: str, answered: str, hint: str = ""):
        super().__init__(f"{asked}: {answered}" + (f"\nhint: {hint}" if hint else ""))


class LabUnavailable(LabError):
    """The lab cannot run on this computer."""
