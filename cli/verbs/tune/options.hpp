// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What `nodewise tune` was asked to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/topology.hpp>

#include "cli/frame/invocation.hpp"
#include "cli/prediction/counted.hpp"
#include "tune/log.hpp"

namespace nodewise::cli {

/// What is done around each run.
struct run_rules {
  std::optional<double> most_seconds;
  bool same_output = false;
  std::string check; ///< shell commands; empty: none
  std::string prepare;
  std::string cleanup;
};

struct tune_request {
  tune::log_header race; ///< command, settings, options and figure
  run_rules rules;
  double within = 0.03;
  std::vector<std::string> also = {}; ///< patterns of further figures, which only are shown
  /// The words of `run` for a virtual machine; empty: runs are native.
  std::vector<std::string> on = {};
  std::optional<traffic_file> traffic = {}; ///< of the program as it is, if it was counted before
  /// What was seen before the race: a sentence each.
  std::vector<std::string> remarks = {};
};

/// The program's name in a command: after {run}, if a launcher starts it.
[[nodiscard]] const std::string& program_in(const std::vector<std::string>& command);

/// Reads the options, and checks that `run` accepts each setting. Throws `error` (usage, input).
/// `here`: this machine, or the virtual one.
[[nodiscard]] tune_request read_tune_options(const invocation& given, const topology& here);

} // namespace nodewise::cli
