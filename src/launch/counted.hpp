// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Inside a virtual machine whose memory traffic is counted: the launcher says what is the program
// and what is only its helper.
#pragma once

#include <nodewise/marker.h>

#include "base/environment.hpp"

namespace nodewise::launch {

/// Whether this process is in a virtual machine of the lab, counted or not.
[[nodiscard]] inline bool is_in_lab(environment get) {
  return get("NODEWISE_LAB") != nullptr;
}

/// Whether this process's surroundings are such a machine; `get` reads the environment.
[[nodiscard]] inline bool is_counted(environment get) {
  return get("NODEWISE_LAB_COUNTS") != nullptr;
}

/// This task is a helper: what it does is not counted.
inline void stand_aside() noexcept {
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_EXCLUDE);
}

/// What this task does from here on is the program's own.
inline void begin_counted_program() noexcept {
  NODEWISE_MARKER_SAY(NODEWISE_MARKER_OBSERVE);
}

} // namespace nodewise::launch
