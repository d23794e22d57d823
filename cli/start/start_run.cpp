// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/start/start_run.hpp"

#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#include "cli/frame/exit_codes.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/start/flags.hpp"
#include "cli/start/numactl_text.hpp"
#include "cli/start/run_options.hpp"
#include "launch/start.hpp"
#include "report/error_text.hpp"

namespace nodewise::cli {

namespace {

/// Shows the kernel's settings of this thread once it is placed as the program would be.
void show(const launch::plan& what, const topology& here) {
  launch::apply(what, "", sys::real_kernel());
  const auto affinity = sys::real_kernel().get_affinity(0);
  const auto policy = sys::read_task_policy();
  if (!affinity || !policy) {
    throw error(error_kind::system, option_name(flags::show),
                affinity ? "get_mempolicy was refused" : "sched_getaffinity was refused",
                "a container's seccomp filter forbids it: use a profile that permits it",
                affinity ? policy.errno_value : affinity.errno_value);
  }
  write_out(show_text(here, affinity.value, policy.value));
}

launch::run_options complete_options(const invocation& given, const run_parts& parts) {
  launch::run_options options = read_run_options(given);
  if (given.has(flags::show)) {
    options.command.clear(); // a named program is not started
  }
  if (parts.complete) {
    parts.complete(options);
  }
  launch::take_threads_of_plan(options);
  if (options.widen || options.ranks_per) {
    options.affinity_was = launch::widen_affinity(sys::real_kernel());
  }
  return options;
}

} // namespace

void warn(const std::vector<std::string>& warnings, const invocation& given) {
  if (given.has(flags::quiet)) {
    return;
  }
  const report::style how = style_of(STDERR_FILENO, given);
  for (const std::string& each : warnings) {
    write_error(report::warning_text(each, how));
  }
}

int start_run(const invocation& given, const run_parts& parts) {
  if (given.has(flags::on_counts) && !given.has(flags::on)) {
    throw error(error_kind::usage, "--on-counts without --on",
                "memory traffic is only counted in virtual machines",
                "add for example --on lab:4x2");
  }
  if (given.has(flags::hardware)) {
    write_out(hardware_text(topology::from_sysfs(), sys::real_kernel()));
    return exit_code::ok;
  }
  const launch::run_options options = complete_options(given, parts);
  const topology here = parts.machine ? parts.machine(options)
                                      : topology::from_sysfs("/", launch::detail_for(options));
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
    if (!parts.supervise) {
      throw std::logic_error("this executable cannot supervise a run");
    }
    parts.supervise(what, here, given);
  }
  launch::apply(what, "", sys::real_kernel());
  launch::become(what);
}

} // namespace nodewise::cli
