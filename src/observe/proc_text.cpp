// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/proc_text.hpp"

#include <algorithm>
#include <array>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "topology/small_file.hpp"

namespace nodewise::observe {

namespace {

using topology_detail::leading_number;
using topology_detail::take_until;

std::string_view without_leading_blanks(std::string_view text) {
  text.remove_prefix(std::min(text.find_first_not_of(" \t"), text.size()));
  return text;
}

template <class T>
bool read(std::string_view text, T& value, int base = 10) {
  const auto found = parse_number<T>(text, base);
  value = found.value_or(value);
  return found.has_value();
}

std::optional<mapping> parse_maps_line(std::string_view line) {
  mapping m;
  std::string_view range = take_until(line, ' ');
  const std::string_view first = take_until(range, '-');
  const std::string_view permissions = take_until(line, ' ');
  if (!read(first, m.where.first, 16) || !read(range, m.where.last, 16) ||
      m.where.first >= m.where.last || permissions.size() != 4 ||
      !read(take_until(line, ' '), m.file_offset, 16)) {
    return std::nullopt;
  }
  m.readable = permissions[0] == 'r';
  m.writable = permissions[1] == 'w';
  m.executable = permissions[2] == 'x';
  m.shared = permissions[3] == 's';
  m.device = take_until(line, ' ');
  if (!read(take_until(line, ' '), m.inode)) {
    return std::nullopt;
  }
  std::string_view path = without_leading_blanks(line);
  constexpr std::string_view deleted = " (deleted)";
  if (path.ends_with(deleted)) {
    path.remove_suffix(deleted.size());
    m.deleted = true;
  }
  m.path = path;
  return m;
}

/// Whether a word of numa_maps comes after the policy, whose name may contain blanks.
bool follows_policy(std::string_view word) {
  constexpr std::array policies = {"bind",    "prefer",   "interleave", "local",
                                   "default", "weighted", "("};
  return word == "heap" || word == "stack" || word == "huge" ||
         (word.find('=') != word.npos && std::ranges::none_of(policies, [&](const char* policy) {
            return word.starts_with(policy);
          }));
}

void read_numa_word(std::string_view word, numa_line& into) {
  into.heap = into.heap || word == "heap";
  into.stack = into.stack || word == "stack";
  into.huge = into.huge || word == "huge";
  const std::size_t equals = word.find('=');
  if (equals == word.npos) {
    return;
  }
  const std::string_view name = word.substr(0, equals);
  std::uint64_t value = 0;
  int node = 0;
  if (!read(word.substr(equals + 1), value)) {
    return;
  }
  if (name == "kernelpagesize_kB") {
    into.page_bytes = value * 1024;
  } else if (name.starts_with('N') && read(name.substr(1), node)) {
    into.pages[node] += value;
  }
}

} // namespace

std::vector<mapping> parse_maps(std::string_view text) {
  std::vector<mapping> all;
  while (!text.empty()) {
    if (auto m = parse_maps_line(take_until(text, '\n'))) {
      all.push_back(std::move(*m));
    }
  }
  return all;
}

std::vector<numa_line> parse_numa_maps(std::string_view text) {
  std::vector<numa_line> all;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    numa_line one;
    if (!read(take_until(line, ' '), one.start, 16)) {
      continue;
    }
    one.policy = take_until(line, ' ');
    bool in_policy = true;
    while (!line.empty()) {
      const std::string_view word = take_until(line, ' ');
      in_policy = in_policy && !follows_policy(word);
      if (in_policy && !word.empty()) {
        one.policy.append(" ").append(word);
      } else {
        read_numa_word(word, one);
      }
    }
    all.push_back(std::move(one));
  }
  return all;
}

std::vector<memory_totals> totals_of(std::span<const numa_line> lines, std::size_t page_bytes) {
  std::vector<memory_totals> all = {{"Huge", {}}, {"Heap", {}}, {"Stack", {}}, {"Private", {}}};
  for (const numa_line& line : lines) {
    memory_totals& into = all[line.huge ? 0U : line.heap ? 1U : line.stack ? 2U : 3U];
    for (const auto& [node, pages] : line.pages) {
      into.bytes[node] += pages * (line.page_bytes != 0 ? line.page_bytes : page_bytes);
    }
  }
  return all;
}

std::map<std::uint64_t, std::uint64_t> parse_smaps_huge_bytes(std::string_view text) {
  std::map<std::uint64_t, std::uint64_t> bytes;
  std::uint64_t start = 0;
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (const auto header = parse_maps_line(line)) {
      start = header->where.first;
      continue;
    }
    constexpr std::array names = {std::string_view("AnonHugePages:"),
                                  std::string_view("ShmemPmdMapped:"),
                                  std::string_view("FilePmdMapped:")};
    for (const std::string_view name : names) {
      const auto kib =
          line.starts_with(name) ? leading_number(line.substr(name.size())) : std::nullopt;
      if (kib) {
        bytes[start] += *kib * 1024;
      }
    }
  }
  return bytes;
}

std::optional<task_stat> parse_task_stat(std::string_view text) {
  // The name is in parentheses and may contain anything, including closing parentheses.
  const std::size_t open = text.find('(');
  const std::size_t close = text.rfind(')');
  if (open == text.npos || close == text.npos || close < open) {
    return std::nullopt;
  }
  task_stat task;
  task.name = text.substr(open + 1, close - open - 1);
  // proc(5) counts from 1; the state is the third, the first after the name.
  const auto fields = split(without_leading_blanks(text.substr(close + 1)), ' ');
  const auto field = [&](std::size_t number) {
    return number - 3 < fields.size() ? fields[number - 3] : std::string_view{};
  };
  if (field(3).size() == 1) {
    task.state = field(3).front();
  }
  task.flags = parse_number<unsigned>(field(9)).value_or(0);
  for (const std::size_t user_or_system : {14U, 15U}) {
    task.cpu_ticks += parse_number<std::uint64_t>(field(user_or_system)).value_or(0);
  }
  task.last_cpu = cpu_id{parse_number<int>(field(39)).value_or(-1)};
  return task;
}

std::optional<task_stat> read_task_stat(sys::process& of, const std::string& file) {
  const auto text = of.read_file(file);
  return text ? parse_task_stat(text.value) : std::nullopt;
}

std::string_view field_of(std::string_view text, std::string_view label) {
  while (!text.empty()) {
    const std::string_view line = take_until(text, '\n');
    if (line.starts_with(label)) {
      const std::string_view value = without_leading_blanks(line.substr(label.size()));
      return value.substr(0, value.find_last_not_of(" \t") + 1);
    }
  }
  return {};
}

std::uint64_t parse_stack_bytes(std::string_view limits) {
  constexpr std::uint64_t without_limit = std::uint64_t{2} << 20; // glibc's default on x86-64
  return leading_number(field_of(limits, "Max stack size")).value_or(without_limit);
}

std::vector<zone_span> parse_zoneinfo(std::string_view text) {
  std::vector<zone_span> spans;
  std::optional<std::uint64_t> node;
  std::uint64_t spanned = 0;
  while (!text.empty()) {
    std::string_view line = take_until(text, '\n');
    if (line.starts_with("Node ")) {
      node = leading_number(line.substr(5));
      spanned = 0;
      continue;
    }
    line = without_leading_blanks(line);
    if (line.starts_with("spanned ")) {
      spanned = leading_number(line.substr(8)).value_or(spanned);
    } else if (line.starts_with("start_pfn:") && node && spanned != 0) {
      if (const auto start = leading_number(line.substr(10))) {
        spans.push_back({node_id{static_cast<int>(*node)}, *start, *start + spanned});
      }
    }
  }
  return spans;
}

} // namespace nodewise::observe
