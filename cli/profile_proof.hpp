// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Is the plan as good as predicted? The program runs again with it, and its traffic is counted.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "advise/advise.hpp"
#include "advise/alternatives.hpp"
#include "plan/plan.hpp"

namespace nodewise::cli {

/// A run of the program with a plan.
struct counted_outcome {
  std::optional<advise::outcome> counted;
  std::string problem; ///< why nothing was counted; empty if it was
};
using count_with_plan = std::function<counted_outcome(const plans::plan_file& plan)>;

struct proof {
  struct candidate {
    std::string name; ///< "plan", "interleave"
    plans::plan_file plan;
    advise::outcome predicted;
    counted_outcome result;
    std::optional<double> remote_before = {}; ///< share, of the program as it ran
    /// What was counted is near what was predicted. Otherwise threads used other parts of the
    /// arrays than in the first run, and in a third one will use others again.
    [[nodiscard]] bool is_repeatable() const noexcept;
  };
  std::vector<candidate> tried; ///< the plan first, unless it changes nothing
  /// The best of those that are repeatable; nothing where none is better than the program as it
  /// ran. Where the plan could not be counted it is the plan.
  std::optional<std::size_t> best;
};

/// Whether the program would run otherwise than it did.
[[nodiscard]] bool changes_anything(const advise::proposal& what);

/// Counts the plan, and then each alternative that the model expects to be better than what was
/// counted so far.
[[nodiscard]] proof prove(const advise::proposal& what, std::vector<advise::alternative> others,
                          const count_with_plan& run);

[[nodiscard]] nlohmann::ordered_json outcome_json(const advise::outcome& what);
[[nodiscard]] nlohmann::ordered_json proof_json(const proof& what);

} // namespace nodewise::cli
