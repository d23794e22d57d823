// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// The parts that differ between the versions of QEMU's plug-in interface. One file implements each
// version; the rest of the counter is compiled once.
#pragma once

#include "plugin_api.h"

QEMU_PLUGIN_EXPORT extern int qemu_plugin_version;

// Copies up to `most` bytes of an instruction and returns how many.
size_t copy_instruction(const struct qemu_plugin_insn* from, void* into, size_t most);
