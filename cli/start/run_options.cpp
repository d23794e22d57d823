// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/start/start_run.hpp"

#include <unistd.h>

#include "base/text.hpp"
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

/// Of the words of --places and --ranks-per, which the parser has checked.
place_kind place_kind_of(std::string_view word) {
  return word.starts_with("core")                 ? place_kind::cores
         : word.starts_with("node")               ? place_kind::nodes
         : word == "packages" || word == "socket" ? place_kind::packages
                                                  : place_kind::threads;
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
      const auto online = static_cast<std::size_t>(::sysconf(_SC_NPROCESSORS_ONLN));
      refuse(fmt::format("{} {}", option_name(flags::threads), *threads),
             fmt::format("at most {} can be given places: the kernel limits a variable, here "
                         "OMP_PLACES, to 128 KiB",
                         max_threads),
             fmt::format("give {} or less; this machine has {}", max_threads,
                         counted(online, "processor")));
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
    if (*part == "gpu" || *part == "fabric") {
      options.ranks_per = place_kind::nodes;
      options.ranks_near = *part;
    } else {
      options.ranks_per = place_kind_of(*part);
      options.rank_memory = part->ends_with("+memory");
    }
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

using launch::policy_variant;
using placements::kind;

/// numactl's options, each with its placement.
struct memory_flag {
  const flag* which;
  kind how;
  policy_variant variant = policy_variant::usual;
};
constexpr std::array memory_flags = {
    memory_flag{&flags::membind, kind::bind},
    memory_flag{&flags::interleave, kind::interleave},
    memory_flag{&flags::weighted_interleave, kind::interleave, policy_variant::by_kernel_weights},
    memory_flag{&flags::preferred, kind::prefer, policy_variant::one_node},
    memory_flag{&flags::preferred_many, kind::prefer, policy_variant::many_nodes},
    memory_flag{&flags::localalloc, kind::local},
};

/// Reads the options for memory placement.
void read_memory_options(launch::run_options& options, const invocation& given) {
  const flag* first = nullptr;
  const auto only_one = [&](const flag& which) {
    if (first != nullptr) {
      throw error(error_kind::usage,
                  fmt::format("{} and {}", option_name(*first), option_name(which)),
                  "memory has one placement", "leave one of them out");
    }
    first = &which;
  };
  if (options.rank_memory) {
    only_one(flags::ranks_per);
  }
  for (const memory_flag& each : memory_flags) {
    if (given.has(*each.which)) {
      only_one(*each.which);
      const std::string nodes(given.text(*each.which).value_or(""));
      options.memory =
          launch::numactl_choice(each.how, nodes, option_name(*each.which), each.variant);
    }
  }
  if (const auto text = given.text(flags::memory)) {
    only_one(flags::memory);
    options.memory = launch::parse_placement(*text, option_name(flags::memory));
  }
  for (const std::string_view rule : given.texts(flags::rule)) {
    options.rules.push_back(launch::parse_rule(rule, option_name(flags::rule)));
  }
  options.also_files = given.has(flags::also);
  options.read_files = given.has(flags::read_files);
  options.balancing = given.has(flags::balancing);
  if (const auto which = given.text(flags::numa_balancing)) {
    options.numa_balancing = *which == "on";
  }
  if (const auto huge = given.text(flags::huge_pages)) {
    options.huge_pages = *huge == "on";
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
  options.report =
      given.has(flags::verify) || given.selected_form() != nullptr || given.has(flags::output);
  options.strict = given.has(flags::strict);
  options.quiet = given.has(flags::quiet);
  options.agent = paths::of_this_process().prefix + "/lib/nodewise/libnodewise-agent.so";
  options.command = given.program;
  return options;
}

} // namespace nodewise::cli
