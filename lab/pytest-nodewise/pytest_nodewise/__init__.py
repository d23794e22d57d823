# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A plug-in for pytest: run programs on virtual NUMA machines, and check their memory traffic."""

from .errors import LabError
from .machine import Machine
from .traffic import Traffic

__all__ = ["LabError", "Machine", "Traffic"]
