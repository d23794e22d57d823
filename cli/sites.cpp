// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/sites.hpp"

#include <charconv>
#include <memory>
#include <optional>

#include "launch/plan.hpp"
#include "symbols/module.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

/// The line number behind the last colon of "file.c:12".
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

std::vector<launch::code_range> find_site(const std::string& site, const std::string& program) {
  const auto module = symbols::module::open(program);
  if (!module) {
    return {};
  }
  std::string file;
  const auto line = line_of(site, file);
  std::vector<launch::code_range> found;
  for (const symbols::code_range& range :
       line ? module->ranges_of_line(file, *line) : module->ranges_of_function(site)) {
    found.push_back({std::string(symbols::last_part(program)), range.first, range.last});
  }
  return found;
}

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

launch::site_finder make_site_finder() {
  return find_site;
}

site_namer make_site_namer(const std::string& program_file) {
  auto opened = symbols::module::open(program_file);
  if (!opened) {
    return {};
  }
  // std::function copies what it holds; a module cannot be copied.
  auto module = std::make_shared<symbols::module>(*std::move(opened));
  return [module, name = std::string(symbols::last_part(program_file))](
             const launch::object_report& object) {
    if (object.caller_module != name || object.caller_offset == 0) {
      return std::string{};
    }
    const auto place = module->locate(object.caller_offset - 1); // the call is before its return
    return place ? symbols::short_name(*place) : std::string{};
  };
}

} // namespace nodewise::cli
