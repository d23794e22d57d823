// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A program's time in use, and of the whole run with its initialisation.
#pragma once

#include <optional>

#include "advise/advise.hpp"
#include "advise/planner.hpp"

namespace nodewise::advise {

/// A course of the phase of use with the initialisation that belongs to it.
struct run_times {
  told use;
  told begun; ///< no bytes where initialisation was not counted

  [[nodiscard]] double whole_seconds() const noexcept { return use.seconds + begun.seconds; }
};

/// As the program ran.
[[nodiscard]] run_times times_before(const analysis& of);
/// With what was decided, of which `after` is not needed.
[[nodiscard]] run_times times_after(const analysis& of, const decision& made);

[[nodiscard]] outcome outcome_of(const analysis_input& of, const run_times& what);

/// How often the program must do what was observed in the phase of use until a slower
/// initialisation has paid; nothing where it pays in the observed run. Infinite where it never
/// does.
[[nodiscard]] std::optional<double> pays_from(const run_times& before, const run_times& after);

} // namespace nodewise::advise
