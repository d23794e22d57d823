// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <string>
#include <vector>

#include <unistd.h>

#include <nodewise/topology.hpp>

#include "cli/exit_codes.hpp"
#include "cli/measured_costs.hpp"
#include "cli/numactl_text.hpp"
#include "cli/result.hpp"
#include "cli/run_options.hpp"
#include "cli/run_result.hpp"
#include "cli/sites.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "launch/executable.hpp"
#include "launch/plan.hpp"
#include "launch/start.hpp"
#include "launch/supervise.hpp"
#include "report/envelope.hpp"
#include "report/error_text.hpp"

namespace nodewise::cli::verbs {

namespace {

void warn(const std::vector<std::string>& warnings, const invocation& given) {
  if (given.has(flags::quiet)) {
    return;
  }
  const report::style how = style_of(STDERR_FILENO, given);
  for (const std::string& each : warnings) {
    write_error(report::warning_text(each, how));
  }
}

/// Tells where the pages were, and returns whether that is as asked.
bool tell(const run_result& result, const invocation& given) {
  warn(result.found.warnings, given);
  if (given.has(flags::json) || given.has(flags::output)) {
    const nlohmann::ordered_json json = run_json(result);
    try {
      write_result(json, given);
    } catch (const error&) { // the program has run: its result is not to be lost
      write_error(report::json_text(json));
      throw;
    }
  }
  if (given.has(flags::verify) && !given.has(flags::quiet)) {
    write_error(run_text(result, style_of(STDERR_FILENO, given)));
  }
  return result.is_as_asked();
}

/// What the kernel says of this thread once it is placed as the program would be.
void show(const launch::plan& what, const topology& here) {
  launch::apply(what, "", sys::real_kernel());
  const auto affinity = sys::real_kernel().get_affinity(0);
  const auto policy = sys::read_task_policy();
  if (!affinity || !policy) {
    throw error(error_kind::system, option_name(flags::show),
                affinity ? "get_mempolicy was refused" : "sched_getaffinity was refused",
                "a container's seccomp filter forbids it: run it with a profile that permits it",
                affinity ? policy.errno_value : affinity.errno_value);
  }
  write_out(show_text(here, affinity.value, policy.value));
}

[[noreturn]] void run_supervised(const launch::plan& what, const topology& here,
                                 const invocation& given) {
  const launch::outcome found = launch::supervise(what, sys::real_kernel());
  if (found.started) {
    const std::string file = launch::find_executable(what.command.front(), std::getenv("PATH"));
    const bool as_asked = tell({what, found, here, make_site_namer(file)}, given);
    if (!as_asked && given.has(flags::strict) && found.wait_status == 0) {
      ::_exit(exit_code::check_failed);
    }
  }
  launch::end_as(found);
}

} // namespace

int run(const invocation& given) {
  if (given.has(flags::on_counts) && !given.has(flags::on)) {
    throw error(error_kind::usage, "--on-counts without --on",
                "memory traffic is counted in virtual machines only",
                "add for example --on lab:4x2");
  }
  if (given.has(flags::hardware)) {
    write_out(hardware_text(topology::from_sysfs(), sys::real_kernel()));
    return exit_code::ok;
  }
  launch::run_options options = read_run_options(given);
  if (given.has(flags::show)) {
    options.command.clear(); // whatever is named is not started
  }
  options.find_site = make_site_finder();
  options.build_id = make_build_id_reader();
  options.libraries = make_library_finder();
  options.weigh = make_weight_source();
  read_plan(options);
  launch::take_threads_of_plan(options);
  if (options.widen || options.ranks_per) {
    options.affinity_was = launch::widen_affinity(sys::real_kernel());
  }
  const topology here = machine_for(options);
  const launch::plan what = launch::make_plan(options, here);
  warn(what.warnings, given);
  if (given.has(flags::dry_run)) {
    write_out(launch::shell_text(what));
    return exit_code::ok;
  }
  if (given.has(flags::show)) {
    show(what, here);
    return exit_code::ok;
  }
  if (what.supervised) {
    check_output(given);
    run_supervised(what, here, given);
  }
  launch::apply(what, "", sys::real_kernel());
  launch::become(what);
}

} // namespace nodewise::cli::verbs
