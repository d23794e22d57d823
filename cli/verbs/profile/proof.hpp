// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Checks whether the plan is as good as predicted: the program runs again with it, and its traffic
// is counted.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "advise/advise.hpp"
#include "plan/plan.hpp"
#include "profile/profile.hpp"
#include "report/style.hpp"

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
    bool allowed = false;                     ///< may become the plan
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

/// As text: what a plan does, what the model predicts for it and what was counted with it.
[[nodiscard]] std::string plan_text(const profile::profile& of, const advise::proposal& what,
                                    const std::optional<proof>& proven, bool verbose,
                                    const report::style& how);

/// The command that applies the plan in this file. `options`: of `run`, such as "--on lab:4x2".
[[nodiscard]] std::string plan_command_text(const profile::profile& of, std::string_view file,
                                            std::string_view options);

} // namespace nodewise::cli
