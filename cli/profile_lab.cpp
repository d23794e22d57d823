// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <filesystem>
#include <string>

#include <unistd.h>

#include "attribution/counted.hpp"
#include "cli/exit_codes.hpp"
#include "cli/lab_count.hpp"
#include "cli/lab_runner.hpp"
#include "cli/profile_flags.hpp"
#include "cli/profile_result.hpp"
#include "cli/terminal.hpp"
#include "launch/leftovers.hpp"
#include "report/error_text.hpp"

namespace nodewise::cli {

namespace {

/// Asked of this command, not of the one inside.
constexpr std::array<const flag*, 12> outside = {
    &flags::on,         &flags::on_timeout, &flags::on_thp, &flags::on_numa_balancing,
    &flags::on_overlay, &flags::plan,       &flags::output, &flags::input,
    &flags::json,       &flags::quiet,      &flags::strict, &flags::color};

/// What the command inside hands over: a file in the working directory, which both share.
class handed_over {
 public:
  handed_over() {
    const std::string prefix = ".nodewise-profile-";
    launch::remove_leftovers(".", prefix);
    name_ = launch::name_of_owner(prefix) + "result.json";
    if (::access(".", W_OK) != 0) {
      throw error(error_kind::usage, "profile --on",
                  "the working directory, through which the virtual machine hands over the "
                  "profile, cannot be written",
                  "go to a directory of your own", errno);
    }
  }
  handed_over(const handed_over&) = delete;
  handed_over& operator=(const handed_over&) = delete;
  ~handed_over() {
    std::error_code ignored;
    std::filesystem::remove(name_, ignored);
  }
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

/// Seconds that the command inside has for writing what it saw after the time limit.
constexpr const char* grace = "60";

counted_run run_inside(const invocation& given, const paths& from, const machine& on,
                       const std::string& file) {
  std::vector<std::string> command = runner_words(given, on, grace);
  command.push_back(from.command());
  std::vector<std::string> inside = given.arguments_without(outside);
  inside.insert(inside.begin() + 1, {"--quiet", "-o", file});
  if (given.has(flags::strict)) {
    inside.insert(inside.begin() + 1, "--strict");
  }
  command.insert(command.end(), inside.begin(), inside.end());
  return run_counted(from, std::move(command));
}

profile_result counted_profile(const counted_run& run, const std::string& file,
                               const topology& on) {
  if (!std::filesystem::exists(file)) {
    throw error(error_kind::input, "the profile from the virtual machine", "there is none",
                "see what was said before; --on-timeout 0 takes the time limit away");
  }
  profile_result found = read_profile(file);
  if (run.counts.empty() && run.end.wait_status != 0) { // it was ended
    found.what.seen.missing.emplace_back(
        "the memory traffic: the virtual machine ended before it was written");
    return {std::move(found.what), on, std::move(found.settings)};
  }
  attribution::add_counts(found.what, run.read());
  std::erase_if(found.what.seen.missing, [](const std::string& each) {
    return each.starts_with("who uses memory later"); // now it was counted
  });
  return {std::move(found.what), on, std::move(found.settings)};
}

} // namespace

void profile_on_lab(const invocation& given) {
  if (given.program.empty()) {
    throw error(error_kind::usage, "profile --on", "there is no program to start",
                "write nodewise profile --on lab:NAME -- PROGRAM");
  }
  const paths from = paths::of_this_process();
  const topology on = machine_of_on(given, from);
  check_profile_output(given);
  const handed_over file;
  const counted_run run = run_inside(given, from, on.machine(), file.name());
  // What ended early may have written a profile all the same.
  const bool early =
      run.end.exit_code() == exit_code::time_limit || run.end.exit_code() > exit_code::signal_base;
  const bool written = std::filesystem::exists(file.name());
  if (early && !written && !given.has(flags::quiet)) {
    write_error(report::warning_text("nothing was seen: it ended before there was a profile",
                                     style_of(STDERR_FILENO, given)));
  }
  if (early ? written : !run.lab_failed()) {
    tell_profile(counted_profile(run, file.name(), on), given, STDERR_FILENO);
  }
  std::error_code ignored;
  std::filesystem::remove(file.name(), ignored); // the next line does not return
  sys::end_as(run.end);
}

} // namespace nodewise::cli
