// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// QEMU 9.1 and later, which go on taking plug-ins of version 3.
#include "plugin_api.h"

size_t qemu_plugin_insn_data(const struct qemu_plugin_insn*, void* into, size_t most);

int qemu_plugin_version = 3;

size_t copy_instruction(const struct qemu_plugin_insn* from, void* into, size_t most) {
  return qemu_plugin_insn_data(from, into, most);
}
