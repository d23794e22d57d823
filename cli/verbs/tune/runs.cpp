// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/runs.hpp"

#include <algorithm>
#include <future>

#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/paths.hpp"
#include "cli/verbs/tune/started.hpp"
#include "launch/numa_balancing.hpp"
#include "topology/json_field.hpp"
#include "tune/figure.hpp"
#include "tune/phase.hpp"

namespace nodewise::cli {

namespace {

/// The same in each process: FNV-1a (G. Fowler, L. C. Noll, K.-P. Vo), 64 bits.
std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char each : text) {
    hash = (hash ^ static_cast<unsigned char>(each)) * 0x100000001b3;
  }
  return hash;
}

/// The bytes of the environment that the setting's program gets; nullopt if it cannot be started.
std::optional<std::size_t> environment_bytes(const tune::setting& how,
                                             const std::vector<std::string>& environment) {
  sys::timed_program probe;
  probe.command =
      tune::command_of(how, {paths::of_this_process().command(), "run", "--quiet"}, {"env", "-0"});
  probe.environment = environment;
  probe.keep_output = true;
  probe.most_seconds = 10;
  const sys::timed_end end = sys::run_timed(probe);
  const bool good = end.how == sys::timed_end::cause::ended && end.wait_status == 0;
  return good ? std::optional(end.output.size()) : std::nullopt;
}

/// 0 for one that is not printed.
std::vector<double> other_figures_in(const std::vector<std::string>& patterns,
                                     std::string_view output) {
  std::vector<double> values;
  for (const std::string& each : patterns) {
    try {
      values.push_back(tune::figure_in({.pattern = each, .file = {}}, output));
    } catch (const error&) {
      values.push_back(0);
    }
  }
  return values;
}

std::string read_if_there(const std::string& file) {
  return ::access(file.c_str(), F_OK) == 0 ? read_whole(file, file, largest_result_file) : "";
}

/// What makes the preloaded library write the times of regions to `file`.
void add_marks(std::vector<std::string>& environment, const std::string& file) {
  const std::string preload = "LD_PRELOAD=";
  const std::string library = preload + paths::of_this_process().marks();
  const auto before = std::ranges::find_if(
      environment, [&](const std::string& each) { return each.starts_with(preload); });
  if (before == environment.end()) {
    environment.push_back(library);
  } else {
    *before = library + ":" + before->substr(preload.size());
  }
  environment.push_back("NODEWISE_MARK_TIMES=" + file);
}

} // namespace

program_runs::program_runs(const tune_request& asked, const machine& on)
    : asked_(asked), environment_(sys::own_environment()) {
  const std::vector<std::string> run = {paths::of_this_process().command(), "run"};
  std::vector<std::string> added; // options that a virtual machine adds to each setting
  if (const auto& part = asked.race.figure.modelled) {
    lab_.emplace(on, *part);
    added = asked.on;
    added.insert(added.end(), {"--quiet", "--on-counts", lab_->file()});
  }
  if (asked.race.figure.marked) {
    marks_.emplace();
    add_marks(environment_, marks_->name());
  }
  for (tune::setting each : asked.race.candidates) {
    sys::timed_program made;
    each.options.insert(each.options.begin(), added.begin(), added.end());
    made.command = tune::command_of(each, run, asked.race.command);
    made.environment = environment_;
    made.keep_output = true;
    made.most_seconds = asked.rules.most_seconds;
    programs_.push_back(std::move(made));
  }
  if (!lab_) { // counts do not depend on it
    equal_environments();
  }
}

/// The environment lies above the stack, and its length shifts the stack: that alone can change a
/// program's time by some percent (Mytkowicz et al., ASPLOS 2009).
void program_runs::equal_environments() {
  std::vector<std::future<std::optional<std::size_t>>> probes;
  for (const tune::setting& each : asked_.race.candidates) {
    probes.push_back(std::async(std::launch::async, environment_bytes, each, environment_));
  }
  std::vector<std::optional<std::size_t>> bytes;
  for (auto& each : probes) {
    bytes.push_back(each.get());
  }
  if (std::ranges::any_of(bytes, [](const auto& each) { return !each; })) {
    remarks_.push_back("the length of the environment differs between settings");
    return;
  }
  const std::size_t longest = *std::ranges::max(bytes);
  for (std::size_t i = 0; i < programs_.size(); ++i) {
    programs_[i].environment.push_back("NODEWISE_TUNE_PADDING=" +
                                       std::string(longest - *bytes[i], 'x'));
  }
}

std::string program_runs::failure_of(const sys::timed_end& end, const std::string& what) const {
  using cause = sys::timed_end::cause;
  switch (end.how) {
  case cause::not_started:
    return fmt::format("{} could not be started: {}", what, errno_text(end.errno_value));
  case cause::timed_out:
    return fmt::format("{} took longer than {} s", what, *asked_.rules.most_seconds);
  case cause::interrupted:
    return "interrupted";
  case cause::ended:
    break;
  }
  if (end.wait_status == 0) {
    return "";
  }
  const std::string line = last_line_of(end.errors);
  const std::string ended =
      WIFSIGNALED(end.wait_status)
          ? fmt::format("{} was ended by signal {}", what, WTERMSIG(end.wait_status))
          : fmt::format("{} ended with exit code {}", what, WEXITSTATUS(end.wait_status));
  return line.empty() ? ended : fmt::format("{}: {}", ended, line);
}

std::string program_runs::run_shell(const std::string& command, const std::string& option) {
  if (command.empty()) {
    return "";
  }
  sys::timed_program shell;
  shell.command = {"/bin/sh", "-c", command};
  shell.environment = environment_;
  shell.keep_output = true;
  return failure_of(sys::run_timed(shell), option);
}

void program_runs::judge(finished_run& made) {
  const tune::figure_source& source = asked_.race.figure;
  try {
    made.figure =
        lab_                    ? lab_->read()
        : marks_                ? tune::phase_seconds(read_if_there(marks_->name()), *source.marked)
        : source.is_wall_time() ? made.end.wall_seconds
        : source.file
            ? tune::figure_in(source, read_whole(*source.file, *source.file, largest_result_file))
            : tune::figure_in(source, made.end.output);
  } catch (const error& e) {
    made.failure = fmt::format("{}: {}", e.asked(), e.answered());
    made.hint = e.hint();
    return;
  }
  made.others = other_figures_in(asked_.also, made.end.output);
  if (!asked_.rules.same_output) {
    return;
  }
  made.output = fmt::format("{:016x}", hash_of(made.end.output));
  if (first_output_.empty()) {
    first_output_ = made.output;
  } else if (made.output != first_output_) {
    made.failure = "its output differs from that of the first run";
    made.hint = "if the program prints times, use --check instead of --same-output";
  }
}

finished_run program_runs::run(std::size_t candidate) {
  finished_run made;
  made.failure = run_shell(asked_.rules.prepare, "--prepare");
  if (!made.failure.empty()) {
    made.ends_tune = true;
    return made;
  }
  if (marks_) { // which the library makes
    ::unlink(marks_->name().c_str());
  }
  made.end = sys::run_timed(programs_[candidate]);
  if (made.end.how != sys::timed_end::cause::ended) {
    // The run was killed with its `nodewise run`, which could not restore what it had changed.
    (void)launch::restore_numa_balancing(sys::real_kernel());
  }
  made.failure = failure_of(made.end, "the program");
  if (made.end.how == sys::timed_end::cause::timed_out) {
    made.hint = "allow more time: --timeout";
  }
  if (made.failure.empty()) {
    judge(made);
  }
  if (made.failure.empty()) {
    made.failure = run_shell(asked_.rules.check, "--check");
  }
  const std::string unclean = run_shell(asked_.rules.cleanup, "--cleanup");
  if (!unclean.empty()) {
    made.failure = unclean;
    made.ends_tune = true;
  }
  return made;
}

} // namespace nodewise::cli
