// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What was seen of the runs besides their figures: noise, and starting conditions that differed.
#pragma once

#include <map>
#include <utility>

#include "cli/verbs/tune/view.hpp"

namespace nodewise::cli {

/// The free memory of each node before the runs.
class memory_watch {
 public:
  void look(const machine& of);
  /// A sentence for each node on which it differed by more than a tenth of the node's memory.
  [[nodiscard]] std::vector<std::string> remarks() const;

 private:
  struct seen {
    std::uint64_t total = 0;
    std::uint64_t least = 0;
    std::uint64_t most = 0;
  };
  std::map<node_id, seen> nodes_;
};

/// Adds sentences to the result's remarks.
void add_observations(tuned& to, const memory_watch& memory);

} // namespace nodewise::cli
