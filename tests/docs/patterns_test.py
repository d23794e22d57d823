# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""docs/profile.md lists the patterns that the source has, in its order."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


class Patterns(unittest.TestCase):
    def test_all_are_listed(self):
        source = (ROOT / "src/advise/pattern_list.hpp").read_text()
        names = [name.replace("_", "-") for name in re.findall(r"^  use\((\w+)\)", source, re.MULTILINE)]
        page = (ROOT / "docs/profile.md").read_text()
        section = re.search(r"^### Patterns$(.*?)^##", page, re.MULTILINE | re.DOTALL)[1]
        self.assertGreater(len(names), 0)
        self.assertEqual(re.findall(r"^\| `([a-z-]+)` \|", section, re.MULTILINE), names)


if __name__ == "__main__":
    unittest.main()
