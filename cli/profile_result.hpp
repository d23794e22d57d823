// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A profile with the machine it was taken on, and what becomes of it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/topology.hpp>

#include "cli/invocation.hpp"
#include "cli/profile_proof.hpp"
#include "profile/profile.hpp"

namespace nodewise::cli {

struct profile_result {
  profile::profile what;
  topology on;
  std::shared_ptr<const nlohmann::ordered_json> settings; ///< never null
};

/// A file that `profile -o` wrote. Throws `error` (input) naming what is wrong with it.
[[nodiscard]] profile_result read_profile(const std::string& file);

/// Files of the ranks of one run as one (profile/merge.hpp). Throws `error` (usage) also where they
/// are of different machines, or of different parts of one.
[[nodiscard]] profile_result read_ranks(const std::vector<std::string>& files);

/// Before a program is started: throws where a file that is asked for could not be written.
void check_profile_output(const invocation& given);

/// Runs the program with a plan, and prices what was counted by this machine.
using run_with_plan =
    std::function<counted_outcome(const plans::plan_file& plan, const topology& priced_on)>;

/// Writes the files that are asked for and tells the advice, as JSON on standard output or for
/// people on `text_to`. With `run` the plan is proven by it.
void tell_profile(const profile_result& found, const invocation& given, int text_to,
                  const run_with_plan& run = {});

/// In a virtual machine: profile and traffic count together. Ends as the program does.
[[noreturn]] void profile_on_lab(const invocation& given);

} // namespace nodewise::cli
