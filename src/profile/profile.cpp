// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "profile/profile.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <ranges>

#include <fmt/core.h>

#include "base/path.hpp"
#include "symbols/names.hpp"

namespace nodewise::profile {

namespace {

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
  const std::size_t deepest = (*std::ranges::max_element(all, {}, &line_list::size))->size();
  for (std::size_t depth = 1; depth < deepest; ++depth) {
    const auto is_other = [&](const std::string& line) { return line != line_at(*all[0], depth); };
    if (std::ranges::any_of(all, is_other, [&](auto* each) { return line_at(*each, depth); })) {
      return depth;
    }
  }
  return 0;
}

/// For a static array, the name in the source; for a file, its last part.
std::string name_without_lines(const object& what) {
  if (what.name.starts_with('/')) {
    return std::string(last_part(what.name));
  }
  if (!what.name.empty()) {
    return symbols::demangle(what.name.c_str());
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
  for (auto& [name, ways] : all) {
    std::vector<std::vector<std::size_t>> calls; // in the order of their first objects
    std::ranges::move(ways | std::views::values, std::back_inserter(calls));
    std::ranges::sort(calls);
    for (std::size_t call = 0; call < calls.size() && calls.size() > 1; ++call) {
      for (const std::size_t i : calls[call]) {
        names[i] += fmt::format(" #{}", call + 1);
      }
    }
  }
}

} // namespace

std::string label_of(const frame& where) {
  if (!where.file.empty()) {
    const std::string name(last_part(where.file));
    return where.line > 0 ? fmt::format("{}:{}", name, where.line) : name;
  }
  if (!where.function.empty()) {
    return where.function;
  }
  return where.module.empty() ? "?" : symbols::module_and_offset(where.module, where.offset);
}

namespace {

/// Also true if this project's library is linked into the program.
bool is_helping(const frame& code) noexcept {
  return symbols::is_of_this_library(code.function) || is_helping_library(code.module);
}

} // namespace

const frame* own_frame(std::span<const frame> where) noexcept {
  const frame* inlined = nullptr; // code of a library's header, inlined into the program
  for (const frame& each : where) {
    if (is_helping(each)) {
      continue;
    }
    if (!is_library_header(each.file)) {
      return &each;
    }
    inlined = inlined == nullptr ? &each : inlined;
  }
  return inlined;
}

std::vector<const frame*> returns_of(std::span<const frame> where) {
  std::vector<const frame*> all;
  for (const frame& each : where) {
    const bool ours = each.module.starts_with("libnodewise-agent");
    if (!each.inlined && !ours && !each.module.empty()) {
      all.push_back(&each);
    }
  }
  return all;
}

void keep_most_used(std::vector<using_code>& all, std::size_t most) {
  std::map<std::string, using_code> by_label;
  for (const using_code& each : all) {
    const auto [found, is_new] = by_label.try_emplace(label_of(each.where), each);
    found->second.amount += is_new ? 0 : each.amount;
  }
  std::vector<std::pair<std::string, using_code>> order(by_label.begin(), by_label.end());
  std::ranges::sort(order, {}, [](const auto& each) {
    return std::pair<double, std::string_view>(-each.second.amount, each.first);
  });
  order.resize(std::min(order.size(), most));
  all.clear();
  std::ranges::move(order | std::views::values, std::back_inserter(all));
}

const program* largest_program(const profile& in) noexcept {
  const auto bytes = [](const program& each) {
    std::uint64_t sum = 0;
    for (const object& one : each.objects) {
      sum += one.bytes;
    }
    return sum;
  };
  const auto largest = std::ranges::max_element(in.programs, {}, bytes);
  return largest == in.programs.end() ? nullptr : &*largest;
}

node_id thread::home() const noexcept {
  const auto most = std::ranges::max_element(stays, {}, &stay::samples);
  return most == stays.end() ? unknown_node : most->node;
}

std::vector<thread::place> thread::places() const {
  constexpr double was_there = 0.05;
  std::vector<place> all;
  const auto sum = [&] {
    double samples = 0;
    for (const place& each : all) {
      samples += each.second;
    }
    return samples;
  };
  for (const stay& each : stays) {
    if (each.node != unknown_node && each.samples > 0) {
      all.emplace_back(each.node, static_cast<double>(each.samples));
    }
  }
  std::erase_if(all,
                [least = was_there * sum()](const place& each) { return each.second < least; });
  for (const double kept = sum(); place & each : all) {
    each.second /= kept;
  }
  return all;
}

std::vector<std::string> names_of(const program& of) {
  std::vector<std::string> names;
  std::vector<line_list> lines;
  std::vector<std::string> called_by; // the line in each name
  std::map<std::string, std::vector<std::size_t>> by_line;
  for (const object& each : of.objects) {
    lines.push_back(each.name.empty() ? own_lines(each.made_at) : line_list{});
    called_by.push_back(line_at(lines.back(), 0));
    names.push_back(lines.back().empty() ? name_without_lines(each) : called_by.back());
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
