# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Inside the guest: command lines as JSON from standard input, what each came to on standard output."""

import json
import subprocess
import sys

done = []
for line in json.load(sys.stdin):
    result = subprocess.run(["sh", "-c", line], capture_output=True, text=True, timeout=400, check=False,
                            stdin=subprocess.DEVNULL)
    done.append((result.returncode, result.stdout, result.stderr))
json.dump(done, sys.stdout)
