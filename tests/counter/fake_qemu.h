// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "lab/counter/plugin_api.h"

// What QEMU hands to a call-back for such an access.
qemu_plugin_meminfo_t fake_info(int store, unsigned bytes);
