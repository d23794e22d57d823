// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <string>
#include <string_view>

#include <unistd.h>

#include <nodewise/topology.hpp>

#include "cli/exit_codes.hpp"
#include "cli/paths.hpp"
#include "cli/result.hpp"
#include "cli/run_result.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "launch/not_started.hpp"
#include "launch/plan.hpp"
#include "launch/start.hpp"
#include "launch/supervise.hpp"
#include "report/error_text.hpp"

namespace nodewise::cli::verbs {

namespace {

using launch::memory_mode;
using launch::run_options;

/// numactl's options, each with a mode of its own.
struct memory_flag {
  const flag* which;
  memory_mode mode;
};
constexpr std::array memory_flags = {
    memory_flag{&flags::membind, memory_mode::bind},
    memory_flag{&flags::interleave, memory_mode::interleave},
    memory_flag{&flags::preferred, memory_mode::prefer},
    memory_flag{&flags::localalloc, memory_mode::local},
};

/// What --memory may say, and whether nodes may or must follow.
struct memory_word {
  std::string_view word;
  memory_mode mode;
  bool may_have_nodes;
  bool must_have_nodes;
};
constexpr std::array memory_words = {
    memory_word{"local", memory_mode::local, false, false},
    memory_word{"bind", memory_mode::bind, true, true},
    memory_word{"prefer", memory_mode::prefer, true, true},
    memory_word{"interleave", memory_mode::interleave, true, false},
    memory_word{"blocked", memory_mode::blocked, false, false},
};

void read_memory_word(run_options& options, std::string_view text) {
  const std::size_t colon = text.find(':');
  const bool has_nodes = colon != std::string_view::npos;
  for (const memory_word& each : memory_words) {
    if (text.substr(0, colon) == each.word &&
        (has_nodes ? each.may_have_nodes : !each.must_have_nodes)) {
      options.memory = each.mode;
      if (has_nodes) {
        options.memory_nodes = {std::string(text.substr(colon + 1)), option_name(flags::memory)};
      }
      return;
    }
  }
  throw error(error_kind::usage, option_name(flags::memory) + " " + std::string(text),
              "there is no such placement",
              "write local, bind:NODES, prefer:NODES, interleave, interleave:NODES or blocked");
}

void read_memory(run_options& options, const invocation& given) {
  const flag* first = nullptr;
  const auto only_one = [&](const flag& which) {
    if (first != nullptr) {
      throw error(error_kind::usage, option_name(*first) + " and " + option_name(which),
                  "only one placement of memory can hold", "leave one of both out");
    }
    first = &which;
  };
  for (const memory_flag& each : memory_flags) {
    if (given.has(*each.which)) {
      only_one(*each.which);
      options.memory = each.mode;
      if (const auto nodes = given.text(*each.which); nodes && each.mode != memory_mode::local) {
        options.memory_nodes = {std::string(*nodes), option_name(*each.which)};
      }
    }
  }
  if (const auto text = given.text(flags::memory)) {
    only_one(flags::memory);
    read_memory_word(options, *text);
  }
}

std::optional<launch::typed_list> list_of(const invocation& given, const flag& which) {
  const auto text = given.text(which);
  if (!text) {
    return std::nullopt;
  }
  return launch::typed_list{std::string(*text), option_name(which)};
}

run_options options_of(const invocation& given) {
  run_options options;
  options.cpu_nodes = list_of(given, flags::cpunodebind);
  options.cpus = list_of(given, flags::physcpubind);
  read_memory(options, given);
  // The parser has checked the word against the choices of the flag.
  options.bind =
      parse_bind_policy(given.text(flags::bind).value_or("none")).value_or(bind_policy::none);
  // A place takes up to 8 bytes of OMP_PLACES, and the kernel takes variables of 128 KiB.
  constexpr long long max_threads = 1 << 13;
  if (const auto threads = given.number(flags::threads, 1, max_threads)) {
    options.threads = static_cast<std::size_t>(*threads);
  }
  if (const auto threshold = given.bytes(flags::threshold)) {
    constexpr std::size_t least = 4096; // no system has smaller pages, and placement is by page
    if (*threshold < least) {
      throw error(error_kind::usage,
                  "--threshold " + std::string(given.text(flags::threshold).value_or("")),
                  "memory is placed by pages, and no page is smaller than 4 KiB",
                  "give 4K or more");
    }
    options.threshold_bytes = *threshold;
  }
  options.report = given.has(flags::verify) || given.has(flags::json) || given.has(flags::output);
  options.strict = given.has(flags::strict);
  options.quiet = given.has(flags::quiet);
  options.agent = paths::of_this_process().prefix + "/lib/nodewise/libnodewise-agent.so";
  options.command = given.program;
  return options;
}

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
bool tell(const launch::plan& what, const launch::outcome& found, const invocation& given) {
  warn(found.warnings, given);
  if (given.has(flags::json) || given.has(flags::output)) {
    write_result(run_json(what, found), given);
  }
  if (given.has(flags::verify) && !given.has(flags::quiet)) {
    write_error(run_text(what, found, style_of(STDERR_FILENO, given)));
  }
  return is_as_asked(what, found);
}

[[noreturn]] void run_supervised(const launch::plan& what, const invocation& given) {
  const launch::outcome found = launch::supervise(what, sys::real_kernel());
  if (found.started) {
    const bool as_asked = tell(what, found, given);
    if (!as_asked && given.has(flags::strict) && found.wait_status == 0) {
      ::_exit(exit_code::check_failed);
    }
  }
  launch::end_as(found);
}

} // namespace

int run(const invocation& given) {
  const run_options options = options_of(given);
  try {
    const launch::plan what =
        launch::make_plan(options, topology::from_sysfs("/", launch::detail_for(options)));
    if (given.has(flags::dry_run)) {
      write_out(launch::shell_text(what));
      return exit_code::ok;
    }
    warn(what.warnings, given);
    if (what.supervised) {
      run_supervised(what, given);
    }
    launch::apply(what, "", sys::real_kernel());
    launch::become(what);
  } catch (const launch::not_started& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
    return e.exit_code();
  }
}

} // namespace nodewise::cli::verbs
