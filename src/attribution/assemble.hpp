// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Builds a profile from all that was recorded of a program.
#pragma once

#include <functional>
#include <tuple>

#include <nodewise/machine.hpp>

#include "attribution/life.hpp"
#include "observe/recorder.hpp"
#include "symbols/unwind.hpp"

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

/// `huge_bytes`: size of transparent huge pages, 0 if the kernel has none, for
/// `complete_huge_pages`. Leaves out programs without touches or objects, such as a shell that
/// started another program. The caller adds the command, the memory of nodes, and missing evidence
/// that the sources do not list.
[[nodiscard]] profile::profile assemble(const heard& from, std::size_t huge_bytes);

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

/// One pass through the whole recording in order of time: objects come and go, and each sample
/// belongs to the object that exists when it is taken.
[[nodiscard]] swept sweep(const heard& from);

/// Names of code that touched, used or allocated memory: call chains where a stack was copied,
/// otherwise only the instruction.
class chain_book {
 public:
  /// Both must outlive this.
  chain_book(const observe::event_log& log, const swept& from);

  /// For a touch of this object: the chain that most copies of the same instruction show.
  [[nodiscard]] profile::call_chain touch(std::size_t life, std::uint64_t object,
                                          const touching_code& by);
  /// From a copy that the agent made, without the agent's own frames; empty if there is none.
  [[nodiscard]] profile::call_chain agent_stack(std::size_t life, std::uint32_t number);
  /// Only the instruction, or the byte before a return address.
  [[nodiscard]] profile::call_chain instruction(std::size_t life, std::uint64_t ip);

 private:
  using addresses = std::vector<std::uint64_t>;
  [[nodiscard]] std::optional<addresses> most_frequent(std::size_t life, std::uint64_t object,
                                                       const touching_code& by);

  const observe::event_log& log_;
  const swept& from_;
  symbols::unwinder unwinder_;
  symbols::chain_namer namer_;
  std::map<std::tuple<std::size_t, std::uint64_t>, std::vector<const explained_touch*>> by_code_;
  std::map<std::tuple<std::size_t, std::uint64_t>, profile::call_chain> instructions_;
  std::map<std::tuple<std::size_t, std::uint32_t>, profile::call_chain> agent_stacks_;
};

} // namespace nodewise::attribution
