# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""Compares the memory traffic of a program before and after a change, for continuous integration."""
