// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `nodewise run` tells after the program has ended.
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include <nodewise/topology.hpp>

#include "launch/plan.hpp"
#include "launch/supervise.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// For people: each process with its large objects, and where their pages were.
[[nodiscard]] std::string run_text(const launch::plan& asked, const launch::outcome& found,
                                   const report::style& how);

/// `nodewise/run/1`.
[[nodiscard]] nlohmann::ordered_json run_json(const launch::plan& asked,
                                              const launch::outcome& found);

/// Whether all that was asked for memory has happened, as far as the agent could see: what --strict
/// insists on.
[[nodiscard]] bool is_as_asked(const launch::plan& asked, const launch::outcome& found);

} // namespace nodewise::cli
