// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fstream>

#include <sys/stat.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/profile/flags.hpp"
#include "cli/verbs/profile/result.hpp"
#include "doctor/settings.hpp"
#include "launch/start.hpp"

namespace nodewise::cli::verbs {

namespace {

[[noreturn]] void refuse_profile(const std::string& answered) {
  throw error(error_kind::usage, "nodewise profile", answered,
              "write nodewise profile -- PROGRAM, -p PID, FILE.json... or --compare A B");
}

/// Throws unless exactly one of the valid forms is given.
void check_form(const invocation& given) {
  const int asked = (given.program.empty() ? 0 : 1) + (given.has(flags::process) ? 1 : 0) +
                    (given.operands.empty() ? 0 : 1);
  if (asked != 1) {
    refuse_profile(asked == 0 ? "what to profile is missing"
                              : "it takes a program, a process or files, not several of these");
  }
  if (given.texts(flags::process).size() > 1) {
    refuse_profile("it takes one process at a time");
  }
  if (given.has(flags::compare) && given.operands.size() != 2) {
    refuse_profile("--compare takes two files");
  }
  if (given.has(flags::duration) && !given.has(flags::process)) {
    refuse_profile("--duration needs a running process (-p PID)");
  }
}

std::shared_ptr<const nlohmann::ordered_json> settings_here() {
  return std::make_shared<const nlohmann::ordered_json>(settings_json(sys::real_kernel()));
}

/// Profiles the program and ends as it does.
[[noreturn]] void profile_program(const invocation& given) {
  launch::run_options options = read_run_options(given);
  if (options.ranks_per) {
    options.affinity_was = launch::widen_affinity(sys::real_kernel());
  }
  options.report = true;
  options.trace = true;
  options.numa_pin = doctor::read_settings(sys::real_kernel()).balances();
  const topology here = topology::from_sysfs();
  const launch::plan what = launch::make_plan(options, here);
  warn(what.warnings, given);
  check_profile_output(given);
  const recorded_profile found = record_program(what, here, given);
  if (found.end.started) {
    warn(found.warnings, given);
    report_profile({found.what, here, settings_here()}, given, STDERR_FILENO);
  }
  sys::end_as(found.end);
}

/// Whether the file begins as an ELF file or a script; false if it is not a regular file.
bool is_program(const std::string& file) {
  struct stat facts{};
  if (::stat(file.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) {
    return false;
  }
  std::string begin(4, '\0');
  std::ifstream(file, std::ios::binary)
      .read(begin.data(), static_cast<std::streamsize>(begin.size()));
  return begin == "\177ELF" || begin.starts_with("#!");
}

/// Throws for a program without -- before it, or a process without -p.
void check_is_file_of_profile(const std::string& file) {
  const bool exists = ::access(file.c_str(), F_OK) == 0;
  if (!exists && file.find_first_not_of("0123456789") == std::string::npos) {
    throw error(error_kind::usage, "the profile " + file, "there is no such file",
                fmt::format("to watch process {0}, write nodewise profile -p {0}", file));
  }
  if (is_program(file)) {
    throw error(error_kind::usage, "the profile " + file, "it is a program",
                "to profile it, write nodewise profile -- " + file);
  }
}

int profile_process(const invocation& given) {
  const int pid = process_number(*given.text(flags::process));
  check_profile_output(given);
  const topology here = topology::from_sysfs();
  const recorded_profile found = record_process(pid, here, given);
  warn(found.warnings, given);
  report_profile({found.what, here, settings_here()}, given, STDOUT_FILENO);
  return exit_code::ok;
}

} // namespace

int profile(const invocation& given) {
  check_form(given);
  if (given.has(flags::compare)) {
    print_comparison(given);
    return exit_code::ok;
  }
  if (!given.operands.empty()) {
    const std::vector<std::string>& files = given.operands; // several: the ranks of one run
    check_profile_output(given);
    std::ranges::for_each(files, check_is_file_of_profile);
    report_profile(files.size() == 1 ? read_profile(files.front()) : read_ranks(files), given,
                   STDOUT_FILENO);
    return exit_code::ok;
  }
  if (given.has(flags::process)) {
    return profile_process(given);
  }
  profile_program(given);
}

} // namespace nodewise::cli::verbs
