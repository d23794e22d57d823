// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/synthetic_spec.hpp"

#include <charconv>
#include <vector>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::topology_detail {

namespace {

[[noreturn]] void refuse(std::string_view spec, const std::string& answered) {
  throw error(error_kind::usage, fmt::format("the synthetic machine '{}'", spec.substr(0, 200)),
              answered,
              "write NODESxCORES or NODESxCORESxTHREADS, such as 4x2 or 2x8x2, or hwloc's syntax, "
              "such as \"numa:2 core:4 pu:1\"");
}

bool is_digit(char c) noexcept {
  return c >= '0' && c <= '9';
}

/// Takes a number off the front of `rest`.
unsigned long take_count(std::string_view& rest, std::string_view spec) {
  unsigned long count = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), count);
  if (code == std::errc::invalid_argument) {
    refuse(spec, rest.empty() ? "a number is missing at the end"
                              : fmt::format("expected a number at '{}'", rest));
  }
  if (code != std::errc{} || count > most_synthetic_cpus) {
    refuse(spec, fmt::format("a number above {}", most_synthetic_cpus));
  }
  if (count == 0) {
    refuse(spec, "a level of 0");
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return count;
}

void multiply(unsigned long& total, unsigned long count, std::string_view spec) {
  total *= count; // both are at most 65536
  if (total > most_synthetic_cpus) {
    refuse(spec, fmt::format("more than {} processors", most_synthetic_cpus));
  }
}

std::string from_short_form(std::string_view spec) {
  std::vector<unsigned long> counts;
  unsigned long total = 1;
  std::string_view rest = spec;
  for (;;) {
    counts.push_back(take_count(rest, spec));
    multiply(total, counts.back(), spec);
    if (rest.empty()) {
      break;
    }
    if (rest.front() != 'x') {
      refuse(spec, fmt::format("expected an x at '{}'", rest));
    }
    rest.remove_prefix(1);
  }
  if (counts.size() < 2 || counts.size() > 3) {
    refuse(spec, fmt::format("{} numbers instead of two or three", counts.size()));
  }
  return fmt::format("pack:{} [numa(memory=1073741824)] core:{} pu:{}", counts[0], counts[1],
                     counts.size() == 3 ? counts[2] : 1);
}

/// hwloc multiplies without a limit of its own. Levels are "type:count" or "count". Text in
/// parentheses describes a level and text in brackets is attached to it: neither multiplies.
void check_size(std::string_view spec) {
  unsigned long total = 1;
  int depth = 0;
  bool count_may_start = true;
  for (std::string_view rest = spec; !rest.empty();) {
    const char c = rest.front();
    if (depth == 0 && count_may_start && is_digit(c)) {
      multiply(total, take_count(rest, spec), spec);
      count_may_start = false;
      continue;
    }
    depth += c == '(' || c == '[' ? 1 : c == ')' || c == ']' ? -1 : 0;
    if (depth < 0) {
      break; // hwloc will refuse it
    }
    count_may_start = c == ':' || c == ' ';
    rest.remove_prefix(1);
  }
}

} // namespace

std::string to_hwloc_synthetic(std::string_view spec) {
  constexpr std::size_t longest = 4096;
  if (spec.empty() || spec.size() > longest) {
    refuse(spec, spec.empty() ? "it is empty" : "more than 4096 characters");
  }
  if (spec.find('\0') != std::string_view::npos) {
    refuse(spec, "a zero byte");
  }
  const bool is_short = is_digit(spec.front()) && spec.find('x') != std::string_view::npos &&
                        spec.find_first_of(" :([") == std::string_view::npos;
  if (is_short) {
    return from_short_form(spec);
  }
  check_size(spec);
  return std::string(spec);
}

} // namespace nodewise::topology_detail
