# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""The same by pytest; docs/lab.md shows it."""

import pytest

THREADS = {"OMP_NUM_THREADS": "8", "OMP_PROC_BIND": "spread", "OMP_PLACES": "cores"}


@pytest.mark.nodewise_lab("4x2")
def test_each_thread_sweeps_over_local_memory(nodewise_lab):
    result = nodewise_lab.run(["./sweep", "parallel"], env=THREADS)
    assert result.remote("a") < 0.05
    assert result.remote(line="sweep.c:21") < 0.05


def test_memory_is_local_on_two_nodes_too(nodewise_lab):
    assert nodewise_lab("2x4").run(["./sweep", "parallel"], env=THREADS).remote() < 0.05
