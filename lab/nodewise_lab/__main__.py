# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The entry point, by path (python3 DIR/nodewise_lab) or by name (python3 -m nodewise_lab)."""

import sys
from pathlib import Path

if not __package__:  # started by path: Python does not know that the directory is a package
    sys.path[0] = str(Path(__file__).absolute().parent.parent)

from nodewise_lab.cli import main

sys.exit(main(sys.argv[1:]))
