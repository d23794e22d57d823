# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The entry point, by path (python3 DIR/nodewise_lab) or by name (python3 -m nodewise_lab)."""

import sys
from pathlib import Path

# Older versions must be able to read this file: the others are for newer ones only.
if sys.version_info < (3, 11):
    sys.stderr.write(
        "nodewise: lab: cannot start with %s: Python 3.11 or later is needed, and this is %d.%d\n"
        "    hint: install a newer Python, and put its folder first in PATH\n" % ((sys.executable,) + sys.version_info[:2])
    )
    sys.exit(125)  # as for all failures of the lab (errors.py)

if not __package__:  # started by path: Python does not know that the directory is a package
    sys.path[0] = str(Path(__file__).absolute().parent.parent)

from nodewise_lab.cli import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
