// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/start/sites.hpp"

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

#include <fmt/core.h>

#include "base/parse_number.hpp"
#include "cli/machine/measured_costs.hpp"
#include "launch/plan.hpp"
#include "plan/plan_json.hpp"
#include "symbols/build_id.hpp"
#include "symbols/interpreter.hpp"
#include "symbols/module.hpp"
#include "symbols/names.hpp"
#include "sys/output_of.hpp"

namespace nodewise::cli {

namespace {

/// The line number after the last colon of "file.c:12".
std::optional<int> line_of(const std::string& site, std::string& file) {
  const std::size_t colon = site.rfind(':');
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  const auto line = parse_number<int>(std::string_view(site).substr(colon + 1));
  if (line.value_or(0) < 1) {
    return std::nullopt;
  }
  file = site.substr(0, colon);
  return line;
}

/// A program is usually queried for several sites: its tables are read once.
class site_reader {
 public:
  std::vector<launch::code_range> operator()(const std::string& site, const std::string& program) {
    if (program != program_) {
      auto opened = symbols::module::open(program);
      module_ = opened ? std::make_shared<symbols::module>(*std::move(opened)) : nullptr;
      program_ = program;
    }
    if (!module_) {
      return {};
    }
    std::string file;
    const auto line = line_of(site, file);
    std::vector<launch::code_range> found;
    for (const symbols::code_range& range :
         line ? module_->ranges_of_line(file, *line) : module_->ranges_of_function(site)) {
      found.push_back({std::string(last_part(program)), range.first, range.last});
    }
    return found;
  }

 private:
  std::string program_;
  std::shared_ptr<symbols::module> module_; ///< shared, since std::function must be copyable
};

/// Asks the program's loader, which lists the libraries without running the program.
std::map<std::string, std::string> libraries_of(const std::string& program_file) {
  std::map<std::string, std::string> by_name;
  const std::string loader = symbols::interpreter(program_file);
  const auto text =
      loader.empty() ? std::nullopt : sys::output_of({loader, "--list", program_file});
  std::istringstream lines(text.value_or(""));
  // "\tlibm.so.6 => /lib/x86_64-linux-gnu/libm.so.6 (0x00007f...)"
  for (std::string line; std::getline(lines, line);) {
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

} // namespace

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
  options.find_site = site_reader{};
  options.build_id = symbols::build_id;
  options.libraries = libraries_of;
  options.weigh = make_weight_source();
  read_plan(options);
}

site_namer make_site_namer(const std::string& program_file) {
  auto opened = symbols::module::open(program_file);
  if (!opened) {
    return {};
  }
  // std::function must be copyable, and a module is not.
  auto module = std::make_shared<symbols::module>(*std::move(opened));
  return
      [module, name = std::string(last_part(program_file))](const launch::object_report& object) {
        if (object.caller_module != name || object.caller_offset == 0) {
          return std::string{};
        }
        const auto place = module->locate(object.caller_offset - 1); // call precedes its return
        return place ? symbols::short_name(*place) : std::string{};
      };
}

} // namespace nodewise::cli
