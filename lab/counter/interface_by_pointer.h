// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// Versions 1 and 2 of the interface hand out a pointer to an instruction's bytes.
#include <string.h>

#include "plugin_api.h"

const void* qemu_plugin_insn_data(const struct qemu_plugin_insn*);

size_t copy_instruction(const struct qemu_plugin_insn* from, void* into, size_t most) {
  memcpy(into, qemu_plugin_insn_data(from), most);
  return most;
}
