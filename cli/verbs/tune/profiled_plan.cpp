// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/profiled_plan.hpp"

#include <csignal>
#include <filesystem>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/paths.hpp"
#include "cli/frame/result.hpp"
#include "cli/verbs/tune/flags.hpp"
#include "cli/verbs/tune/started.hpp"
#include "plan/plan_json.hpp"
#include "sys/signals.hpp"
#include "sys/timed_program.hpp"

namespace nodewise::cli {

namespace {

sys::timed_end run_profile(std::vector<std::string> line) {
  sys::timed_program what;
  what.command = std::move(line);
  what.environment = sys::own_environment();
  what.keep_output = true;
  sys::timed_end end;
  {
    const sys::ending_signals signals;
    end = sys::run_timed(what);
  }
  if (end.how == sys::timed_end::cause::interrupted) {
    std::raise(SIGINT); // nothing is measured yet
  }
  return end;
}

} // namespace

std::string make_profiled_plan(const std::string& file, const std::vector<std::string>& command,
                               const std::vector<std::string>& on) {
  const std::string asked = fmt::format("{} {}", option_name(flags::profiled_plan), file);
  if (!std::filesystem::exists(file)) {
    check_file(flags::profiled_plan, file);
    std::vector<std::string> line = {paths::of_this_process().command(), "profile", "--quiet"};
    line.insert(line.end(), on.begin(), on.end());
    if (!on.empty()) {
      line.emplace_back("--no-prove"); // the race does that
    }
    line.insert(line.end(), {"--write-plan", file, "--"});
    line.insert(line.end(), command.begin(), command.end());
    const sys::timed_end end = run_profile(line);
    if (end.how != sys::timed_end::cause::ended || end.wait_status != 0 ||
        !std::filesystem::exists(file)) {
      const std::string why = last_line_of(end.errors);
      std::error_code ignored;
      std::filesystem::remove(file, ignored); // a plan of a failed run
      throw error(error_kind::input, asked,
                  why.empty() ? "the profile of the program as it is failed" : why,
                  "see what this says: nodewise profile -- " + joined(command, " ", shell_word));
    }
  }
  const plans::plan_file plan = plans::read_plan(file);
  if (!plan.objects.empty()) {
    return "";
  }
  return fmt::format("the plan in {} places no array and is not tried", printable(file));
}

} // namespace nodewise::cli
