// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <filesystem>

#include <fmt/core.h>

#include "cli/frame/verbs.hpp"
#include "cli/lab/counted_run.hpp"
#include "cli/lab/runner.hpp"
#include "cli/start/flags.hpp"
#include "cli/verbs/help_parts.hpp"
#include "cli/verbs/profile/result.hpp"

namespace nodewise::cli::verbs {

namespace {

constexpr auto outside =
    join(on_a_machine, std::array{&flags::on_slurm, &flags::on_no_count, &flags::on_counts});

/// Throws if the result file would be lost: the machine shares only the working directory.
void require_output_here(const invocation& given) {
  const auto name = given.text(flags::output);
  if (!name) {
    return;
  }
  const auto here = std::filesystem::current_path();
  const auto file = (here / *name).lexically_normal().lexically_relative(here);
  if (file.empty() || *file.begin() == "..") {
    throw error(error_kind::usage, fmt::format("--output {} with --on", *name),
                "a virtual machine shares only the working directory",
                "name a file in the working directory");
  }
}

/// At the time limit a counted program gets SIGTERM. It then has this many seconds to end before
/// the virtual machine is stopped, so that its count can be shown.
constexpr const char* grace = "5";

/// Whether there is a program to count and the count would be shown or written.
bool counts_traffic(const invocation& given, bool cluster) {
  if (given.verb->name != "run" || given.program.empty() || given.has(flags::dry_run) ||
      given.has(flags::show) || given.has(flags::hardware)) {
    return false;
  }
  if (given.has(flags::on_slurm)) {
    if (given.has(flags::on_counts)) {
      throw error(error_kind::usage, "--on-counts with --on-slurm",
                  "Slurm's daemons start the ranks, and the lab counts what the command starts",
                  "start the ranks by mpirun or mpiexec, without --on-slurm");
    }
    return false;
  }
  if (given.has(flags::on_no_count)) {
    if (given.has(flags::on_counts)) {
      throw error(error_kind::usage, "--on-counts with --on-no-count", "nothing would be counted",
                  "leave one of them out");
    }
    return false;
  }
  // On emulated processors that count, MPI libraries take half a minute to start.
  return given.has(flags::on_counts) || (!cluster && !given.has(flags::quiet));
}

/// The other verbs look at one machine, so they refuse a cluster.
std::vector<topology> machines_for(const invocation& given, const paths& from) {
  if (given.verb->name == "run" || given.verb->name == "survey") {
    return hosts_of_on(given, from);
  }
  return {machine_of_on(given, from)};
}

} // namespace

int on_lab(const invocation& given) {
  if (given.has(flags::numa_balancing)) {
    throw error(error_kind::usage, "--numa-balancing with --on",
                "a program in a virtual machine has no permission to switch it",
                "use --on-numa-balancing 1 or 0, which sets it before the program starts");
  }
  if (given.verb->name == "profile") {
    profile_on_lab(given);
  }
  const paths from = paths::of_this_process();
  const std::vector<topology> hosts = machines_for(given, from);
  require_output_here(given);
  check_plan_for_lab(given);
  const bool counting = counts_traffic(given, hosts.size() > 1);
  if (counting) {
    check_traffic_output(given);
  }
  const std::vector<std::string> inside = given.arguments_without(outside);
  if (!counting) {
    start_runner(from, with_command(runner_words(given, hosts), from, inside));
  }
  const counted_run run =
      run_counted(from, with_command(runner_words(given, hosts, grace), from, inside));
  const int result = report_traffic(run, hosts, given);
  if (run.end.wait_status == 0 && result != exit_code::ok) {
    return result;
  }
  sys::end_as(run.end);
}

} // namespace nodewise::cli::verbs
