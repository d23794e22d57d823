// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "advise/advise.hpp"

namespace nodewise::advise {

/// Something else than the plan, to be tried.
struct alternative {
  std::string name; ///< "interleave"
  plans::plan_file plan;
  outcome expected; ///< predicted
  /// The model is not sure enough of it to propose it: it is worth nothing unless a run with it has
  /// less remote traffic.
  bool must_be_nearer = false;
};

/// With the program's threads bound as its plan has them: what users try first, all arrays
/// interleaved or all in blocks; and what the model expects to be fastest. Throws as `make_plan`.
[[nodiscard]] std::vector<alternative> alternatives(const profile::profile& of, const topology& on,
                                                    std::size_t program);

/// The model's figures for the run that was observed, of the program and of those that ran as one
/// job with it. Throws as `make_plan`.
[[nodiscard]] outcome outcome_of_run(const profile::profile& of, const topology& on,
                                     std::size_t program);

} // namespace nodewise::advise
