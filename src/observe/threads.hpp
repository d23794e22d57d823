// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include <nodewise/id_set.hpp>
#include <nodewise/machine.hpp>

#include "observe/proc_text.hpp"

namespace nodewise::observe {

struct thread_facts : task_stat {
  int tid = 0;
  node_id node = unknown_node;                ///< of the processor where it ran last
  cpu_set allowed;                            ///< empty if unknown
  bool active = false;                        ///< runs now, or has run since the previous sample
  std::optional<std::uint64_t> stack_pointer; ///< if the kernel reports it
};

/// `ticks_before`: cpu_ticks by thread at the previous sample; empty at the first.
[[nodiscard]] std::vector<thread_facts>
read_threads(sys::process& of, const machine& on, const std::map<int, std::uint64_t>& ticks_before);

/// The nodes where the threads ran last; unknown nodes are omitted.
[[nodiscard]] node_set nodes_of(const std::vector<thread_facts>& threads, bool only_active);

} // namespace nodewise::observe
