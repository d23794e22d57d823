// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "sys/process.hpp"

namespace nodewise::observe {

/// A live object of a process that runs with the preloaded agent.
struct agent_object {
  sys::address_range where;
  std::uint64_t sequence = 0; ///< in the order of allocation
  std::uint64_t caller = 0;   ///< return address of the allocation's caller
  std::uint32_t kind = 0;     ///< enum nodewise_agent_object_kind
};

/// Reads the agent's table through the view at this address (agent/protocol.h), ascending by
/// address. nullopt if it may not be read, has another version, or was being written at every
/// attempt.
[[nodiscard]] std::optional<std::vector<agent_object>> read_agent_objects(sys::process& of,
                                                                          std::uint64_t view);

} // namespace nodewise::observe
