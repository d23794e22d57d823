// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

#include "agent/protocol.h"

namespace nodewise::agent {

/// Consecutive owners on one node.
struct owner_run {
  std::size_t first_slot; ///< how many owners come before
  int node;
};

/// What the launcher asked for. A plain value in static storage: nothing here allocates.
struct settings {
  std::size_t threshold_bytes;
  std::size_t slots; ///< owners in all; 0 if nobody knows whose pages are whose
  std::size_t runs;
  bool observe; ///< owners are who will use the pages: count by them, place nothing
  bool quiet;
  owner_run run[NODEWISE_AGENT_MAX_RUNS];
  const char* report; ///< a path, or nullptr if nobody asked
};

/// Reads the text of NODEWISE_AGENT, which must outlive `into`. Returns nullptr, or what is wrong.
[[nodiscard]] const char* parse(const char* text, settings& into) noexcept;

} // namespace nodewise::agent
