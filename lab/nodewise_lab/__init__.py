# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Virtual NUMA machines: a Linux kernel under QEMU that runs the host's own programs."""
