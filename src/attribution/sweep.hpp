// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// One pass through the whole recording in order of time: objects come and go, and each sample
// belongs to the object that exists when it is taken.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include <nodewise/machine.hpp>

#include "attribution/life.hpp"
#include "launch/agent_report.hpp"
#include "observe/observer.hpp"
#include "observe/recorder.hpp"

namespace nodewise::attribution {

/// All that was recorded of a program.
struct heard {
  const observe::recording& recorded;
  const launch::run_report& reported; ///< by the agent; empty without it
  const machine& on;
  std::size_t page_bytes = 4096;
  /// The kernel's NUMA balancing was on: a second fault on a page is an access. If off, it is
  /// another first touch: the page had been given back, or was the kernel's zero page.
  bool balancing = false;
  /// Pages that balancing moved during the recording, for all programs of the system.
  std::uint64_t migrated = 0;
  /// The memory of the recorded process if no agent reports its objects; nullptr: unknown.
  const observe::page_map* mapped = nullptr;
  /// Called from time to time with the number of samples processed.
  std::function<void(std::uint64_t)> done = {};
};

/// A copy of a stack, and the touch that it explains.
struct explained_touch {
  std::size_t stack = 0; ///< in the log
  std::size_t life = 0;
  std::uint64_t object = 0; ///< id
  std::uint64_t ip = 0;
  std::uint32_t by = 0;
};

struct swept {
  std::vector<life> programs; ///< in the order of their start
  std::vector<explained_touch> stacks;
  std::uint64_t accesses = 0;
};

/// Kernel addresses are in the upper half.
[[nodiscard]] constexpr bool is_kernel_code(std::uint64_t ip) noexcept {
  return ip >> 63U != 0;
}

[[nodiscard]] swept sweep(const heard& from);

} // namespace nodewise::attribution
