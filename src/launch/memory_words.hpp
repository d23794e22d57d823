// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The values of --memory and --rule, not yet applied to a machine or program.
#pragma once

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "plan/plan.hpp"

namespace nodewise::launch {

/// A list of nodes or processors as typed, and the option that errors name.
struct typed_list {
  std::string text;
  std::string option;

  /// "--membind 0-3", as in the command line.
  [[nodiscard]] std::string shown() const {
    return text.empty() ? option : fmt::format("{} {}", option, text);
  }
};

/// Calls `resolve(text)`; its errors name the option.
template <class Resolve>
auto resolved(const typed_list& list, Resolve resolve) {
  try {
    return resolve(list.text);
  } catch (const error& e) {
    throw error(e.kind(), list.shown(), e.answered(), e.hint());
  }
}

/// What numactl's options ask of the kernel beyond the placement that they share with --memory.
enum class policy_variant {
  usual,
  one_node,          ///< of prefer: several nodes are an error
  many_nodes,        ///< of prefer: the kernel's policy for several nodes, even for one
  by_kernel_weights, ///< of interleave: in proportion to the kernel's weights
};

/// A placement as typed. Its nodes are text until the machine is known.
struct memory_choice {
  placements::kind how = placements::kind::none; ///< none: the policy that this process has
  std::string words;                             ///< as `placements::read` takes them
  typed_list typed;                              ///< what errors show
  policy_variant variant = policy_variant::usual;
};

/// Which objects a rule applies to: all conditions must hold; of several sites, one must match.
struct memory_rule : plans::object_match {
  std::string text;               ///< as typed
  std::vector<std::string> sites; ///< "solver.c:41", "solver.c", a function, "module+0x12-0x34"
  memory_choice where;
};

/// A word of the command line (placement/kind.hpp). Throws `error` (usage), which names `option`.
[[nodiscard]] memory_choice parse_placement(std::string_view text, const std::string& option);

/// One of numactl's options with its nodes; `local` takes none.
[[nodiscard]] memory_choice numactl_choice(placements::kind how, const std::string& nodes,
                                           const std::string& option,
                                           policy_variant variant = policy_variant::usual);

/// "site=file.c:12,size>=8M:cyclic:64K": conditions, a colon, a placement. Throws `error` (usage).
[[nodiscard]] memory_rule parse_rule(std::string_view text, const std::string& option);

} // namespace nodewise::launch
