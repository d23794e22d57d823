# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The entry point, by path: python3 DIR/nodewise_ci."""

import sys
from pathlib import Path

# Older versions must be able to read this file: the others are for newer ones only.
if sys.version_info < (3, 11):
    sys.stderr.write(
        "nodewise-ci: cannot start: Python 3.11 or later is needed, and this is %d.%d\n"
        "hint: install a newer Python, and put its folder first in PATH\n" % sys.version_info[:2]
    )
    sys.exit(125)

_folder = Path(__file__).absolute().parents[1]
# The plug-in for pytest runs programs in the lab and reads their traffic. It is beside this folder, here and installed.
sys.path[:1] = [str(_folder), str(_folder.parent / "pytest-nodewise")]

from nodewise_ci.cli import main  # noqa: E402

sys.exit(main(sys.argv[1:]))
