// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "advise/proposal.hpp"
#include "profile/profile.hpp"

namespace nodewise::advise {

/// A placement other than the plan's, to try.
struct alternative {
  std::string name; ///< "interleave"
  plans::plan_file plan;
  outcome expected; ///< predicted
  /// The model is too unsure of it to propose it: it counts only if a run with it has less remote
  /// traffic.
  bool must_be_nearer = false;
};

/// With the program's threads bound as in its plan: what users try first, all arrays interleaved or
/// all in blocks, and what the model expects to be fastest. Throws like `make_plan`.
[[nodiscard]] std::vector<alternative> alternatives(const profile::profile& of, const topology& on,
                                                    std::size_t program);

/// The model's figures for the observed run of the program and of the programs in the same job.
/// Throws like `make_plan`.
[[nodiscard]] outcome outcome_of_run(const profile::profile& of, const topology& on,
                                     std::size_t program);

} // namespace nodewise::advise
