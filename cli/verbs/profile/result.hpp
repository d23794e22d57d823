// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile with the machine it was taken on, and how it is reported.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "cli/verbs/profile/proof.hpp"
#include "profile/profile.hpp"

namespace nodewise::cli {

struct profile_result {
  profile::profile what;
  topology on;
  std::shared_ptr<const nlohmann::ordered_json> settings; ///< never null
};

/// The position of the program with the most memory; nothing if no program was seen.
[[nodiscard]] std::optional<std::size_t> largest_position(const profile::profile& of);

/// A file that `profile -o` wrote. Throws `error` (input) naming what is wrong with it.
[[nodiscard]] profile_result read_profile(const std::string& file);

/// Merges the files of the ranks of one run (profile/merge.hpp). Also throws `error` (usage) if
/// they are from different machines, or from different parts of one.
[[nodiscard]] profile_result read_ranks(const std::vector<std::string>& files);

/// Call before a program starts. Throws if a requested file cannot be written.
void check_profile_output(const invocation& given);

/// Runs the program with a plan, and prices the counted traffic on `priced_on`.
using run_with_plan =
    std::function<counted_outcome(const plans::plan_file& plan, const topology& priced_on)>;

/// Writes the requested files and reports the advice, as JSON on standard output or as text on
/// `text_to`. With `run`, it verifies the plan by running the program again.
void report_profile(const profile_result& found, const invocation& given, int text_to,
                    const run_with_plan& run = {});

/// Profiles and counts traffic in a virtual machine. Ends as the program does.
[[noreturn]] void profile_on_lab(const invocation& given);

} // namespace nodewise::cli
