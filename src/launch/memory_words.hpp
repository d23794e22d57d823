// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The values of --memory and --rule, not yet applied to a machine or program.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nodewise::launch {

enum class memory_mode {
  inherited,            ///< the policy that this process has
  local,                ///< the node of the processor that touches a page first
  bind,                 ///< these nodes only
  prefer,               ///< these nodes, falling back to others when full
  prefer_one,           ///< the same; several nodes are an error
  prefer_many,          ///< several nodes, falling back to others when full
  interleave,           ///< pages in turn
  interleave_by_weight, ///< pages in turn, in proportion to the kernel's weights
  // By the agent, object by object:
  weighted, ///< granules in turn, in proportion to the weights given here
  blocked,  ///< in equal parts over the nodes of the threads
  cyclic,   ///< granules of a given size in turn
  map,      ///< in relative parts, each on its own node: in plan files only
};

/// A list of nodes or processors as typed, and the option that errors name.
struct typed_list {
  std::string text;
  std::string option;
  std::string whole = {}; ///< the option's value, if the list is only a part of it

  /// "--membind 0-3", as in the command line.
  [[nodiscard]] std::string shown() const { return option + " " + (whole.empty() ? text : whole); }
};

/// One placement of memory.
struct memory_choice {
  memory_mode mode = memory_mode::inherited;
  std::optional<typed_list> nodes; ///< nullopt: all nodes
  std::size_t granule_bytes = 0;   ///< of cyclic
  /// Of weighted: a node list and the weight of each of its nodes.
  struct weight {
    typed_list nodes;
    std::uint32_t value = 0;
  };
  std::vector<weight> weights;
  bool measured = false; ///< of weighted: by the measured bandwidths of `nodes`
};

/// Which objects a rule applies to: all conditions must hold; of several sites, one must match.
struct memory_rule {
  std::string text;               ///< as typed
  std::vector<std::string> sites; ///< "solver.c:41", "solver.c", a function, "module+0x12-0x34"
  std::optional<std::string> symbol;
  std::size_t least_bytes = 0;
  std::optional<std::size_t> most_bytes;
  memory_choice where;
};

/// "local", "bind:NODES", "prefer:NODES", "interleave[:NODES]", "weighted:NODE=WEIGHT,...",
/// "weighted:auto[:NODES]", "blocked", "cyclic:SIZE[:NODES]". Throws `error` (usage), which names
/// `option`.
[[nodiscard]] memory_choice parse_placement(std::string_view text, const std::string& option);

/// "site=file.c:12,size>=8M:cyclic:64K": conditions, a colon, a placement. Throws `error` (usage).
[[nodiscard]] memory_rule parse_rule(std::string_view text, const std::string& option);

} // namespace nodewise::launch
