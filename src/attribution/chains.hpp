// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Names of code that touched, used or allocated memory: call chains where a stack was copied,
// otherwise only the instruction.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <tuple>
#include <vector>

#include "attribution/sweep.hpp"
#include "profile/profile.hpp"
#include "symbols/chain_names.hpp"
#include "symbols/unwind.hpp"

namespace nodewise::attribution {

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
