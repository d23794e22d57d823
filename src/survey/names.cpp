// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Long lists of hosts and ranks in short texts.
#include <fmt/format.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "survey/job.hpp"

namespace nodewise::survey {

namespace {

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "node-" and "07" of "node-07"; the number may be empty.
struct numbered_name {
  std::string_view before;
  std::string_view digits;
  std::uint64_t number = 0;
};

numbered_name parse_name(std::string_view name) {
  std::size_t begin = name.size();
  while (begin > 0 && is_digit(name[begin - 1])) {
    --begin;
  }
  const std::string_view digits = name.substr(begin);
  const auto number = parse_number<std::uint64_t>(digits);
  return number ? numbered_name{name.substr(0, begin), digits, *number}
                : numbered_name{name, {}, 0};
}

bool follows(const numbered_name& one, const numbered_name& other) {
  // "n9" and "n10" belong together, "n09" and "n10" too, "n9" and "n010" do not.
  const bool same_form = one.digits.size() == other.digits.size() ||
                         (!one.digits.starts_with('0') && !other.digits.starts_with('0'));
  return !one.digits.empty() && !other.digits.empty() && one.before == other.before && same_form &&
         other.number == one.number + 1;
}

/// "a-b" for each run of `size` parts, where `joins(i)` says whether part i continues part i - 1.
template <class Joins, class Text>
std::string runs_text(std::size_t size, std::size_t most, Joins joins, Text text) {
  std::string all;
  std::size_t runs = 0;
  for (std::size_t i = 0; i < size;) {
    std::size_t end = i + 1;
    while (end < size && joins(end)) {
      ++end;
    }
    if (runs == most) {
      return fmt::format("{} and {} more", all, size - i);
    }
    all += fmt::format("{}{}", runs == 0 ? "" : ", ", text(i));
    if (end - i > 1) {
      all += fmt::format("{}{}", end - i == 2 ? ", " : "-", text(end - 1));
    }
    ++runs;
    i = end;
  }
  return all;
}

/// Removes the digits at the beginning of `rest`, without leading zeros.
std::string_view take_digits(std::string_view& rest) {
  std::size_t end = 0;
  while (end < rest.size() && is_digit(rest[end])) {
    ++end;
  }
  std::string_view digits = rest.substr(0, end);
  rest.remove_prefix(end);
  while (digits.size() > 1 && digits.front() == '0') {
    digits.remove_prefix(1);
  }
  return digits;
}

} // namespace

bool is_before(std::string_view one, std::string_view other) {
  std::string_view a = one;
  std::string_view b = other;
  while (!a.empty() && !b.empty()) {
    if (is_digit(a.front()) && is_digit(b.front())) {
      const std::string_view x = take_digits(a);
      const std::string_view y = take_digits(b);
      if (x != y) {
        return x.size() != y.size() ? x.size() < y.size() : x < y;
      }
    } else if (a.front() != b.front()) {
      return a.front() < b.front();
    } else {
      a.remove_prefix(1);
      b.remove_prefix(1);
    }
  }
  return a.empty() != b.empty() ? a.empty() : one < other;
}

std::string names_text(const std::vector<std::string>& names, std::size_t most) {
  return runs_text(
      names.size(), most,
      [&](std::size_t i) { return follows(parse_name(names[i - 1]), parse_name(names[i])); },
      [&](std::size_t i) { return printable(names[i]); });
}

std::string ranks_text(const std::vector<int>& ranks, std::size_t most) {
  return runs_text(
      ranks.size(), most, [&](std::size_t i) { return ranks[i] == ranks[i - 1] + 1; },
      [&](std::size_t i) { return std::to_string(ranks[i]); });
}

std::string nodes_text(const node_set& nodes) {
  return fmt::format("{} {}", nodes.size() == 1 ? "node" : "nodes", nodes.to_string());
}

} // namespace nodewise::survey
