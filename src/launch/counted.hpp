// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// In a virtual machine that counts memory traffic, the launcher marks which tasks belong to the
// program and which are only helpers.
#pragma once

#include <nodewise/marker.h>

#include "base/environment.hpp"

namespace nodewise::launch {

/// Whether this process is in a virtual machine of the lab, counted or not.
[[nodiscard]] inline bool is_in_lab(environment get) {
  return get("NODEWISE_LAB") != nullptr;
}

/// Whether this process runs in a lab machine that counts traffic; `get` reads the environment.
[[nodiscard]] inline bool is_counted(environment get) {
  return get("NODEWISE_LAB_COUNTS") != nullptr;
}

/// Marks this task as a helper, whose traffic is not counted.
inline void stand_aside() noexcept {
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_EXCLUDE);
}

} // namespace nodewise::launch
