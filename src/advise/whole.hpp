// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program's time in the phase of use, and in the whole run with its initialisation.
#pragma once

#include <optional>

#include "advise/planner.hpp"
#include "advise/proposal.hpp"

namespace nodewise::advise {

/// The times of the phase of use and of the initialisation before it.
struct run_times {
  prediction use;
  prediction begun; ///< no bytes if it was not counted

  [[nodiscard]] double whole_seconds() const noexcept { return use.seconds + begun.seconds; }
};

/// As the program ran.
[[nodiscard]] run_times times_before(const analysis& of);
/// With the decision's placement; does not use `after`.
[[nodiscard]] run_times times_after(const analysis& of, const decision& made);

[[nodiscard]] outcome outcome_of(const analysis_input& of, const run_times& what);

/// How often the program must repeat the observed phase of use until a slower initialisation pays
/// off; empty if it pays off in the observed run. Infinite if it never does.
[[nodiscard]] std::optional<double> pays_from(const run_times& before, const run_times& after);

} // namespace nodewise::advise
