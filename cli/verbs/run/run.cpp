// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>
#include <filesystem>
#include <map>
#include <memory>
#include <sstream>

#include <unistd.h>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/machine/source.hpp"
#include "cli/start/start_run.hpp"
#include "cli/verbs/run/flags.hpp"
#include "cli/verbs/run/result.hpp"
#include "launch/executable.hpp"
#include "launch/start.hpp"
#include "plan/plan_json.hpp"
#include "symbols/module.hpp"
#include "symbols/names.hpp"
#include "sys/programs.hpp"

namespace nodewise::cli::verbs {

namespace {

/// "file.c" and 12 of "file.c:12".
std::optional<std::pair<std::string, int>> file_and_line(const std::string& site) {
  const std::size_t colon = site.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  const int line = parse_number<int>(std::string_view(site).substr(colon + 1)).value_or(0);
  return line < 1 ? std::nullopt : std::optional(std::pair(site.substr(0, colon), line));
}

/// Shared, since std::function must be copyable, and a module is not. Null if it cannot be read.
std::shared_ptr<symbols::module> open_module(const std::string& file) {
  auto opened = symbols::module::open(file);
  return opened ? std::make_shared<symbols::module>(*std::move(opened)) : nullptr;
}

/// A program is usually queried for several sites: its tables are read once.
launch::site_finder make_site_finder() {
  return [module = std::shared_ptr<symbols::module>(),
          name = std::string()](const std::string& site, const std::string& program) mutable {
    if (program != name) {
      module = open_module(program);
      name = program;
    }
    std::vector<launch::code_range> found;
    if (!module) {
      return found;
    }
    const auto line = file_and_line(site);
    for (const symbols::code_range& range : line ? module->ranges_of_line(line->first, line->second)
                                                 : module->ranges_of_function(site)) {
      found.push_back({std::string(last_part(program)), range.first, range.last});
    }
    return found;
  };
}

/// Asks the program's loader, which lists the libraries without running the program.
std::map<std::string, std::string> libraries_of(const std::string& program_file) {
  std::map<std::string, std::string> by_name;
  const std::string loader = symbols::interpreter(program_file);
  const auto text =
      loader.empty() ? std::nullopt : sys::output_of({loader, "--list", program_file});
  std::istringstream listing(text.value_or(""));
  // "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)"
  for (std::string line; std::getline(listing, line);) {
    const std::size_t first = line.find("=> /");
    const std::size_t last = line.rfind(" (0x");
    if (first != std::string::npos && last != std::string::npos && last > first + 3) {
      const std::string path = line.substr(first + 3, last - first - 3);
      std::error_code unknown;
      const std::string file = std::filesystem::canonical(path, unknown).string();
      by_name.emplace(last_part(path), path);
      by_name.emplace(last_part(unknown ? path : file), path);
    }
  }
  return by_name;
}

void read_plan(launch::run_options& options) {
  if (!options.plan) {
    return;
  }
  try {
    options.plan->file = plans::read_plan(options.plan->name);
  } catch (const error& e) {
    if (!options.plan->optional || options.strict) {
      throw;
    }
    options.plan->problem = e.answered();
    options.notes.push_back(fmt::format("{}: {}; the program runs without the plan ({})", e.asked(),
                                        e.answered(), e.hint()));
  }
}

topology machine_for(const launch::run_options& options) {
  const auto needs_hwloc = [](std::string_view text) { // "numa[hbm]"
    return text.find('[') != std::string_view::npos;
  };
  const bool any =
      std::ranges::any_of(std::array{&options.cpu_nodes, &options.cpus, &options.pin},
                          [&](const auto* list) { return *list && needs_hwloc((*list)->text); });
  return any || needs_hwloc(options.memory.words)
             ? topology::system()
             : topology::from_sysfs("/", launch::detail_for(options));
}

void complete(launch::run_options& options) {
  options.find_site = make_site_finder();
  options.build_id = symbols::build_id;
  options.libraries = libraries_of;
  options.weigh = weigh_by_measurement;
  read_plan(options);
}

site_namer make_site_namer(const std::string& program_file) {
  auto module = open_module(program_file);
  if (!module) {
    return {};
  }
  return
      [module, name = std::string(last_part(program_file))](const launch::object_report& object) {
        if (object.caller_module != name || object.caller_offset == 0) {
          return std::string{};
        }
        const auto place = module->locate(object.caller_offset - 1); // call precedes its return
        return place ? symbols::short_name(*place) : std::string{};
      };
}

/// Reports where the pages were, and returns whether that is as requested.
bool report_run(const run_result& result, const invocation& given) {
  warn(result.found.warnings, given);
  if (const flag* const form = form_to_write(given)) {
    const std::string text = written(*form, run_forms, result);
    try {
      write_result(text, given);
    } catch (const error&) { // the program has run: its result must not be lost
      write_error(text);
      throw;
    }
  }
  if (given.has(flags::verify) && !given.has(flags::quiet)) {
    const report::style how = style_of(STDERR_FILENO, given);
    write_error(run_text(result, how) + report_line(given, how));
  }
  return result.is_as_asked();
}

[[noreturn]] void run_supervised(const launch::plan& what, const topology& here,
                                 const invocation& given) {
  check_output(given);
  const launch::outcome found = launch::supervise(what, sys::real_kernel());
  if (!what.supervised) {
    warn(found.warnings, given);
  } else if (found.started) {
    const std::string file = launch::find_executable(what.command.front(), std::getenv("PATH"));
    const bool as_asked = report_run({what, found, here, make_site_namer(file)}, given);
    if (!as_asked && given.has(flags::strict) && found.wait_status == 0) {
      ::_exit(exit_code::check_failed);
    }
  }
  sys::end_as(found);
}

} // namespace

int run(const invocation& given) {
  if (given.has(flags::for_launcher)) {
    launch::run_options options = read_run_options(given);
    complete(options);
    launch::take_threads_of_plan(options);
    (void)launch::widen_affinity(sys::real_kernel()); // as --ranks-per does
    return print_launcher_line(given, options, topology::from_sysfs());
  }
  return start_run(given,
                   {.complete = complete, .machine = machine_for, .supervise = run_supervised});
}

} // namespace nodewise::cli::verbs
