// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/sites.hpp"

#include <charconv>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <sstream>

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
  int line = 0;
  if (colon == std::string::npos || colon == 0) {
    return std::nullopt;
  }
  const char* const end = site.data() + site.size();
  const auto [stop, code] = std::from_chars(site.data() + colon + 1, end, line);
  if (code != std::errc{} || stop != end || line < 1) {
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

} // namespace

topology machine_for(const launch::run_options& options) {
  for (const auto& list :
       {&options.cpu_nodes, &options.cpus, &options.pin, &options.memory.nodes}) {
    if (*list && (*list)->text.find('[') != std::string::npos) { // "numa[hbm]"
      return topology::system();
    }
  }
  return topology::from_sysfs("/", launch::detail_for(options));
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
    options.notes.push_back(e.asked() + ": " + e.answered() +
                            "; the program runs without the plan (" + e.hint() + ")");
  }
}

launch::build_id_reader make_build_id_reader() {
  return symbols::build_id;
}

launch::library_finder make_library_finder() {
  return [](const std::string& program_file) {
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
  };
}

launch::site_finder make_site_finder() {
  return site_reader{};
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
