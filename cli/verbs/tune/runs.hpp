// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The runs of a race: each setting's command line, in an environment of the same length.
#pragma once

#include <string>
#include <vector>

#include "cli/verbs/tune/lab.hpp"
#include "cli/verbs/tune/options.hpp"
#include "sys/timed_program.hpp"

namespace nodewise::cli {

/// One run of the program.
struct finished_run {
  sys::timed_end end;
  double figure = 0;
  std::vector<double> others; ///< the further figures; 0: not printed
  std::string failure;        ///< why it gives no figure; empty if it does
  std::string output;         ///< a hash of what it printed, with --same-output
  bool ends_tune = false;     ///< whether the failure is not one of this setting
  std::string hint = "tune compares runs that succeed"; ///< if the program fails as it is
};

class program_runs {
 public:
  /// Starts nothing but short helpers that report the length of the environment.
  program_runs(const tune_request& asked, const machine& on);

  /// Of an earlier run of the same race, as `finished_run::output`.
  void expect_output(const std::string& hash) { first_output_ = hash; }
  /// Runs the setting once, with the commands of --prepare, --cleanup and --check around it.
  [[nodiscard]] finished_run run(std::size_t candidate);
  /// What the last run moved; nullopt if it was native.
  [[nodiscard]] std::optional<traffic_file> counted() const {
    return lab_ ? std::optional(lab_->counted()) : std::nullopt;
  }
  /// What could not be made equal.
  [[nodiscard]] const std::vector<std::string>& remarks() const noexcept { return remarks_; }

 private:
  void equal_environments();
  [[nodiscard]] std::string failure_of(const sys::timed_end& end, const std::string& what) const;
  [[nodiscard]] std::string run_shell(const std::string& command, const std::string& option);
  void judge(finished_run& made);

  const tune_request& asked_;
  std::vector<std::string> environment_;     ///< of this process
  std::vector<sys::timed_program> programs_; ///< of each setting
  std::optional<lab_figure> lab_;            ///< of runs in a virtual machine
  std::optional<temporary_file> marks_;      ///< the times of a program\'s regions
  std::string first_output_;                 ///< a hash, with --same-output; empty: not known yet
  std::vector<std::string> remarks_;
};

} // namespace nodewise::cli
