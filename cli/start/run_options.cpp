// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/start/run_options.hpp"

#include <string>
#include <string_view>

#include <unistd.h>

#include <fmt/core.h>

#include "base/counted.hpp"
#include "cli/frame/paths.hpp"
#include "cli/start/flags.hpp"

namespace nodewise::cli {

namespace {

using launch::run_options;

[[noreturn]] void refuse(const std::string& asked, const std::string& answered,
                         const std::string& hint) {
  throw error(error_kind::usage, asked, answered, hint);
}

[[noreturn]] void refuse_both(const flag& one, const flag& other, const std::string& answered) {
  refuse(fmt::format("{} and {}", option_name(one), option_name(other)), answered,
         "leave one of them out");
}

/// numactl applies -N and -C in order, so the last one counts.
void read_processors(run_options& options, const invocation& given) {
  for (const invocation::option& each : given.options) {
    if (each.what == &flags::cpunodebind) {
      options.cpu_nodes = {each.value, option_name(flags::cpunodebind)};
      options.cpus.reset();
    } else if (each.what == &flags::physcpubind) {
      options.cpus = {each.value, option_name(flags::physcpubind)};
      options.cpu_nodes.reset();
    }
  }
  options.widen = given.has(flags::all_processors);
}

// The parser has checked the words below against the choices of their flags.

place_kind place_kind_of(std::string_view word) {
  return word == "cores"      ? place_kind::cores
         : word == "nodes"    ? place_kind::nodes
         : word == "packages" ? place_kind::packages
                              : place_kind::threads;
}

place_kind rank_part_of(std::string_view word) {
  return word == "node"     ? place_kind::nodes
         : word == "socket" ? place_kind::packages
                            : place_kind::cores;
}

void read_pin(run_options& options, const invocation& given) {
  const auto list = given.text(flags::pin);
  if (!list) {
    return;
  }
  for (const flag* const other : {&flags::bind, &flags::smt, &flags::ranks_per}) {
    if (given.has(*other)) {
      refuse_both(flags::pin, *other, "the list alone decides where threads run");
    }
  }
  options.pin = {std::string(*list), option_name(flags::pin)};
}

/// A place takes up to 8 bytes of OMP_PLACES ("{12345},"), and the kernel takes variables of 128
/// KiB (MAX_ARG_STRLEN).
constexpr long long max_threads = 1 << 13;

[[noreturn]] void refuse_threads(long long asked) {
  const auto online = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
  refuse(fmt::format("{} {}", option_name(flags::threads), asked),
         fmt::format("at most {} can be given places: the kernel limits a variable, here "
                     "OMP_PLACES, to 128 KiB",
                     max_threads),
         fmt::format("give {} or less; this machine has {}", max_threads,
                     counted(online, "processor")));
}

/// For options that need bound threads; a plan may bind them.
void require_binding(const run_options& options, const flag& which, std::string_view value) {
  if (!options.pin && options.bind == bind_policy::none && !options.plan) {
    refuse(fmt::format("{} {}", option_name(which), value),
           "without --bind or --pin no thread is bound", "add --bind close or --bind spread");
  }
}

void read_threads(run_options& options, const invocation& given) {
  const auto bind = given.text(flags::bind);
  options.bind = parse_bind_policy(bind.value_or("none")).value_or(bind_policy::none);
  read_pin(options, given);
  if (const auto threads = given.number(flags::threads, 1)) {
    if (*threads > max_threads) {
      refuse_threads(*threads);
    }
    options.threads = static_cast<std::size_t>(*threads);
  }
  if (const auto main = given.text(flags::main_thread)) {
    options.main_works = *main == "works";
    if (options.main_works) {
      require_binding(options, flags::main_thread, *main);
    }
  }
  if (const auto kind = given.text(flags::places)) {
    require_binding(options, flags::places, *kind);
    options.places = place_kind_of(*kind);
  }
  if (const auto smt = given.text(flags::smt)) {
    options.smt = *smt == "on" ? smt_use::on : smt_use::off;
    if (options.smt == smt_use::on) {
      require_binding(options, flags::smt, *smt);
    }
  }
  if (const auto part = given.text(flags::ranks_per)) {
    options.ranks_per = rank_part_of(*part);
  }
}

void read_plan_choice(run_options& options, const invocation& given) {
  const auto required = given.text(flags::plan);
  const auto optional = given.text(flags::plan_optional);
  if (required && optional) {
    refuse_both(flags::plan, flags::plan_optional, "a program is run with one plan");
  }
  if (const auto file = required ? required : optional) {
    options.plan = launch::plan_choice{std::string(*file),
                                       {},
                                       {},
                                       given.has(flags::bind) || given.has(flags::pin),
                                       given.has(flags::places),
                                       given.has(flags::main_thread),
                                       optional.has_value()};
  }
}

void read_threshold(run_options& options, const invocation& given) {
  if (const auto threshold = given.bytes(flags::threshold)) {
    constexpr std::size_t least = 4096; // no system has smaller pages, and placement is by page
    if (*threshold < least) {
      refuse(fmt::format("--threshold {}", given.text(flags::threshold).value_or("")),
             "memory is placed by pages, and no page is smaller than 4 KiB", "give 4K or more");
    }
    options.threshold_bytes = *threshold;
  }
}

} // namespace

run_options read_run_options(const invocation& given) {
  run_options options;
  read_processors(options, given);
  read_plan_choice(options, given);
  read_threads(options, given);
  read_memory_options(options, given);
  read_threshold(options, given);
  options.report = given.has(flags::verify) || given.has(flags::json) || given.has(flags::output);
  options.strict = given.has(flags::strict);
  options.quiet = given.has(flags::quiet);
  options.agent = paths::of_this_process().prefix + "/lib/nodewise/libnodewise-agent.so";
  options.command = given.program;
  return options;
}

} // namespace nodewise::cli
