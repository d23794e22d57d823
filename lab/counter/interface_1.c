// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
//
// QEMU 6.0 to 8.2.
#include "interface_by_pointer.h"

int qemu_plugin_version = 1;
