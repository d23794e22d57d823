// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Checks whether the plan is as good as predicted: the program runs again with it, and its traffic
// is counted.
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

/// The result of one run of the program with a plan.
struct counted_outcome {
  std::optional<advise::outcome> counted;
  std::string problem; ///< why nothing was counted; else empty
};
using count_with_plan = std::function<counted_outcome(const plans::plan_file& plan)>;

struct proof {
  struct candidate {
    std::string name; ///< "plan", "interleave"
    plans::plan_file plan;
    advise::outcome predicted;
    counted_outcome result;
    std::optional<double> remote_before = {}; ///< remote share of the original run
    bool confirmed = true;                    ///< by a second run, if one was made
    /// Whether the count is close to the prediction. If it is not, threads used other parts of the
    /// arrays than in the first run, and will use others again in the next.
    [[nodiscard]] bool is_repeatable() const noexcept;
  };
  std::vector<candidate> tried; ///< the plan first, unless it changes nothing
  /// The best repeatable candidate; nothing if none is better than the original run. If the plan
  /// could not be counted, it is the plan.
  std::optional<std::size_t> best;
};

/// Whether the plan changes how the program runs.
[[nodiscard]] bool changes_anything(const advise::proposal& what);

/// Counts a run with the plan, then with each alternative that the model expects to be better than
/// the counts so far. `by_chance`: threads may take other parts of the work in each run, so that
/// one count may agree with the prediction by luck; the best candidate then needs a second one.
[[nodiscard]] proof prove(const advise::proposal& what, std::vector<advise::alternative> others,
                          bool by_chance, const count_with_plan& run);

[[nodiscard]] nlohmann::ordered_json outcome_json(const advise::outcome& what);
[[nodiscard]] nlohmann::ordered_json proof_json(const proof& what);

} // namespace nodewise::cli
