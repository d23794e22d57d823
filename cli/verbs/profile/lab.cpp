// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <iterator>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "attribution/counted.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/lab/counted_run.hpp"
#include "cli/lab/runner.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "cli/verbs/profile/result.hpp"
#include "launch/report_file.hpp"
#include "plan/plan_json.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

/// Options for this command; they are not passed to the command inside, which gets all others.
std::vector<const flag*> outside(const invocation& given) {
  constexpr std::array groups = {group::common, group::virtual_machine, group::input, group::plan,
                                 group::results};
  std::vector<const flag*> all;
  std::ranges::copy_if(given.verb->flags, std::back_inserter(all), [&](const flag* each) {
    const bool is_refused_inside = each == &flags::compare; // it takes no program
    return !is_refused_inside &&
           (each->is_form || std::ranges::find(groups, each->group) != groups.end());
  });
  return all;
}

constexpr const char* prefix_of_files = ".nodewise-profile-";

/// A file in the working directory, which is shared with the command inside.
struct shared_file {
  explicit shared_file(const std::string& end)
      : name(launch::name_of_owner(prefix_of_files) + end) {}
  shared_file(const shared_file&) = delete;
  shared_file& operator=(const shared_file&) = delete;
  ~shared_file() { remove(); }

  void remove() const noexcept {
    std::error_code ignored;
    std::filesystem::remove(name, ignored);
  }
  [[nodiscard]] bool exists() const { return std::filesystem::exists(name); }

  const std::string name;
};

void check_working_directory() {
  launch::remove_leftovers(".", prefix_of_files);
  if (::access(".", W_OK) != 0) {
    throw error(error_kind::usage, "profile --on",
                "the virtual machine writes the profile into the working directory, which is not "
                "writable",
                "change to a writable directory", errno);
  }
}

/// Seconds after the time limit in which the command inside may write its results.
constexpr const char* grace = "60";

/// The runner's arguments without --verbose: `profile --verbose` does not show its console.
std::vector<std::string> quiet_runner(const invocation& given, const machine& on) {
  std::vector<std::string> words = runner_words(given, on, grace);
  std::erase(words, "--verbose");
  return words;
}

counted_run run_inside(const invocation& given, const paths& from, const machine& on,
                       const std::string& file) {
  std::vector<std::string> inside = given.arguments_without(outside(given));
  inside.insert(inside.begin() + 1, {"--quiet", "-o", file});
  if (given.has(flags::strict)) {
    inside.insert(inside.begin() + 1, "--strict");
  }
  return run_counted(from, with_command(quiet_runner(given, on), from, inside));
}

/// Runs the same program again with a plan. Its output is discarded.
struct plan_run {
  const invocation& given;
  const paths& from;
  const machine& on;
  off_t input_begin = ::lseek(STDIN_FILENO, 0, SEEK_CUR); ///< of a file; else below 0

  /// `expected_end`: the program's exit code without the plan.
  [[nodiscard]] counted_outcome count(const profile::profile& of, int expected_end,
                                      const plans::plan_file& plan,
                                      const topology& priced_on) const {
    const auto program = std::ranges::find(of.programs, plan.program, &profile::program::name);
    auto document = report::envelope("plan", 1, machine_json(on), nlohmann::ordered_json::object());
    plans::append(document, plan);
    const shared_file file("plan.json");
    if (const int failed = replace_file(file.name, report::json_text(document)); failed != 0) {
      return {{}, "its file could not be written: " + errno_text(failed)};
    }
    const counted_run run = run_counted(from, words(file.name), input_begin);
    if (run.end.exit_code() != expected_end) {
      return {{},
              fmt::format("with the plan, the program ended with exit code {} instead of {}",
                          run.end.exit_code(), expected_end)};
    }
    const profile::profile seen = attribution::profile_of(run.read(), *program, of.command);
    const auto largest = largest_position(seen);
    if (!largest) {
      return {{}, "the program was not counted"};
    }
    return {advise::outcome_of_run(seen, priced_on, *largest), ""};
  }

  [[nodiscard]] std::vector<std::string> words(const std::string& plan) const {
    std::vector<std::string> runner = quiet_runner(given, on);
    std::erase(runner, "--tty");
    runner.insert(runner.end() - 1, "--discard");
    std::vector<std::string> inside = given.arguments_without(outside(given));
    inside.front() = "run";
    inside.insert(inside.begin() + 1, {"--quiet", option_name(flags::plan), plan});
    return with_command(std::move(runner), from, inside);
  }
};

/// Empty if --no-prove is given. On a terminal, says why it takes longer.
run_with_plan prover(const plan_run& by, const profile::profile& of, int expected_end) {
  if (by.given.has(flags::no_prove)) {
    return {};
  }
  return [&by, &of, expected_end](const plans::plan_file& plan, const topology& priced_on) {
    if (::isatty(STDERR_FILENO) == 1 && !by.given.has(flags::quiet)) {
      write_error("nodewise: running the program again with the plan (--no-prove skips this)\n");
    }
    try {
      return by.count(of, expected_end, plan, priced_on);
    } catch (const error& e) {
      return counted_outcome{{}, fmt::format("{}: {}", e.asked(), e.answered())};
    }
  };
}

profile_result counted_profile(const counted_run& run, const std::string& file,
                               const topology& on) {
  if (!std::filesystem::exists(file)) {
    throw error(error_kind::input, "the profile from the virtual machine", "it was not written",
                "see the messages above; --on-timeout 0 removes the time limit");
  }
  profile_result found = read_profile(file);
  if (run.counts.front().empty() && run.end.wait_status != 0) { // it was ended early
    found.what.seen.missing.emplace_back(
        "the memory traffic: the virtual machine ended before it was written");
  } else {
    attribution::add_counts(found.what, run.read());
    std::erase_if(found.what.seen.missing, [](const std::string& each) {
      return each.starts_with("who uses memory later"); // it has been counted now
    });
  }
  return {std::move(found.what), on, std::move(found.settings)};
}

} // namespace

void profile_on_lab(const invocation& given) {
  if (given.program.empty()) {
    throw error(error_kind::usage, "profile --on", "the program is missing",
                "write nodewise profile --on lab:NAME -- PROGRAM");
  }
  const paths from = paths::of_this_process();
  const topology on = machine_of_on(given, from);
  check_profile_output(given);
  check_working_directory();
  const shared_file file("result.json");
  const plan_run again{given, from, on.machine()};
  const counted_run run = run_inside(given, from, on.machine(), file.name);
  // A program that ended early may still have written a profile.
  const int end = run.end.exit_code();
  const bool early = end == exit_code::time_limit || end > exit_code::signal_base;
  if (early && !file.exists() && !given.has(flags::quiet)) {
    write_error(report::warning_text("the program ended before a profile was written",
                                     style_of(STDERR_FILENO, given)));
  }
  if (early ? file.exists() : !run.lab_failed()) {
    const profile_result found = counted_profile(run, file.name, on);
    report_profile(found, given, STDERR_FILENO,
                   early ? run_with_plan{} : prover(again, found.what, end));
  }
  file.remove(); // since the next line does not return
  sys::end_as(run.end);
}

} // namespace nodewise::cli
