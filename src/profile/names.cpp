// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/names.hpp"

#include <algorithm>
#include <map>

#include <fmt/core.h>

#include "base/last_part.hpp"
#include "symbols/names.hpp"

namespace nodewise::profile {

namespace {

/// For a static array, the name in the source; for a file, its last part.
std::string source_name(const std::string& name) {
  return name.starts_with('/') ? std::string(last_part(name)) : symbols::demangle(name.c_str());
}

using line_list = std::vector<std::string>;

/// The program's own lines on the way to the allocation, innermost first, without repetitions. A
/// line repeats, for example, in a template in which one line calls another of its instances.
line_list own_lines(const call_chain& made_at) {
  line_list lines;
  std::span<const frame> rest = made_at;
  while (const frame* const own = own_frame(rest)) {
    std::string label = label_of(*own);
    if (lines.empty() || lines.back() != label) {
      lines.push_back(std::move(label));
    }
    rest = rest.subspan(static_cast<std::size_t>(own - rest.data()) + 1);
  }
  return lines;
}

std::string line_at(const line_list& lines, std::size_t depth) {
  return depth < lines.size() ? lines[depth] : std::string{};
}

/// The number of calls from the allocation at which the objects' lines first differ; 0: nowhere.
std::size_t first_difference(const std::vector<const line_list*>& all) {
  std::size_t deepest = 0;
  for (const line_list* each : all) {
    deepest = std::max(deepest, each->size());
  }
  for (std::size_t depth = 1; depth < deepest; ++depth) {
    const std::string first = line_at(*all.front(), depth);
    if (std::ranges::any_of(
            all, [&](const line_list* each) { return line_at(*each, depth) != first; })) {
      return depth;
    }
  }
  return 0;
}

std::string name_without_lines(const object& what) {
  if (!what.name.empty()) {
    return source_name(what.name);
  }
  return what.made_at.empty() ? fmt::format("{} memory", to_string(what.kind))
                              : label_of(what.made_at.front());
}

using code_path = std::vector<std::pair<std::string, std::uint64_t>>;

/// The code on the way from the allocation to the line that names the object; it distinguishes
/// calls in that line.
code_path way_to(const call_chain& made_at, const std::string& line) {
  code_path way;
  for (const frame& each : made_at) {
    way.emplace_back(each.module, each.offset);
    if (label_of(each) == line) {
      break;
    }
  }
  return way;
}

/// Appends the number of the call to the names of objects that share name and kind but come from
/// several calls.
void number_calls(const program& of, const std::vector<std::string>& line_of,
                  std::vector<std::string>& names) {
  std::map<std::pair<std::string, object_kind>, std::map<code_path, std::vector<std::size_t>>> all;
  for (std::size_t i = 0; i < names.size(); ++i) {
    if (!line_of[i].empty()) {
      all[{names[i], of.objects[i].kind}][way_to(of.objects[i].made_at, line_of[i])].push_back(i);
    }
  }
  for (const auto& [name, ways] : all) {
    if (ways.size() == 1) {
      continue;
    }
    std::vector<const std::vector<std::size_t>*> calls; // in the order of their first objects
    for (const auto& [code, objects] : ways) {
      calls.push_back(&objects);
    }
    std::ranges::sort(calls, {}, [](const auto* objects) { return objects->front(); });
    for (std::size_t call = 0; call < calls.size(); ++call) {
      for (const std::size_t i : *calls[call]) {
        names[i] += fmt::format(" #{}", call + 1);
      }
    }
  }
}

} // namespace

std::vector<std::string> names_of(const program& of) {
  std::vector<std::string> names;
  std::vector<line_list> lines;
  std::vector<std::string> called_by; // the line in each name
  std::map<std::string, std::vector<std::size_t>> by_line;
  for (const object& each : of.objects) {
    lines.push_back(each.name.empty() ? own_lines(each.made_at) : line_list{});
    names.push_back(lines.back().empty() ? name_without_lines(each) : lines.back().front());
    called_by.push_back(lines.back().empty() ? "" : lines.back().front());
    if (!lines.back().empty()) {
      by_line[names.back()].push_back(names.size() - 1);
    }
  }
  for (const auto& [line, objects] : by_line) {
    std::vector<const line_list*> all;
    for (const std::size_t i : objects) {
      all.push_back(&lines[i]);
    }
    const std::size_t depth = first_difference(all);
    for (const std::size_t i : objects) {
      if (const std::string caller = depth == 0 ? "" : line_at(lines[i], depth); !caller.empty()) {
        names[i] = fmt::format("{} (through {})", caller, line);
        called_by[i] = caller;
      }
    }
  }
  number_calls(of, called_by, names);
  return names;
}

} // namespace nodewise::profile
