// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/run_options.hpp"

#include <string>
#include <string_view>

#include <unistd.h>

#include "cli/paths.hpp"

namespace nodewise::cli {

namespace {

using launch::run_options;

[[noreturn]] void refuse(const std::string& asked, const std::string& answered,
                         const std::string& hint) {
  throw error(error_kind::usage, asked, answered, hint);
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
      refuse(option_name(flags::pin) + " and " + option_name(*other),
             "the list alone says where threads run", "leave one of both out");
    }
  }
  options.pin = {std::string(*list), option_name(flags::pin)};
}

/// A place takes up to 8 bytes of OMP_PLACES ("{12345},"), and the kernel takes variables of 128
/// KiB (MAX_ARG_STRLEN).
constexpr long long max_threads = 1 << 13;

[[noreturn]] void refuse_threads(long long asked) {
  const long online = ::sysconf(_SC_NPROCESSORS_ONLN);
  refuse(option_name(flags::threads) + " " + std::to_string(asked),
         "at most " + std::to_string(max_threads) +
             " can be given places: the kernel limits a variable, here OMP_PLACES, to 128 KiB",
         "give " + std::to_string(max_threads) + " or less; this machine has " +
             std::to_string(online) + (online == 1 ? " processor" : " processors"));
}

void read_threads(run_options& options, const invocation& given) {
  const auto bind = given.text(flags::bind);
  options.bind = parse_bind_policy(bind.value_or("none")).value_or(bind_policy::none);
  read_pin(options, given);
  const bool bound = options.pin || options.bind != bind_policy::none;
  if (const auto threads = given.number(flags::threads, 1)) {
    if (*threads > max_threads) {
      refuse_threads(*threads);
    }
    options.threads = static_cast<std::size_t>(*threads);
  }
  if (const auto main = given.text(flags::main_thread)) {
    if (*main == "works" && !bound && !options.plan) {
      refuse(option_name(flags::main_thread) + " works",
             "without --bind or --pin no thread is bound", "add --bind close or --bind spread");
    }
    options.main_works = *main == "works";
  }
  if (const auto kind = given.text(flags::places)) {
    if (!bound && !options.plan) {
      refuse(option_name(flags::places) + " " + std::string(*kind),
             "without --bind or --pin no thread is bound", "add --bind close or --bind spread");
    }
    options.places = place_kind_of(*kind);
  }
  if (const auto smt = given.text(flags::smt)) {
    if (*smt == "on" && !bound && !options.plan) {
      refuse(option_name(flags::smt) + " on", "without --bind it means nothing",
             "add --bind close or --bind spread");
    }
    options.smt = *smt == "on" ? smt_use::on : smt_use::off;
  }
  if (const auto part = given.text(flags::ranks_per)) {
    options.ranks_per = rank_part_of(*part);
  }
}

void read_plan_choice(run_options& options, const invocation& given) {
  const auto required = given.text(flags::plan);
  const auto optional = given.text(flags::plan_optional);
  if (required && optional) {
    refuse(option_name(flags::plan) + " and " + option_name(flags::plan_optional),
           "a program is run by one plan", "leave one of both out");
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
      refuse("--threshold " + std::string(given.text(flags::threshold).value_or("")),
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
