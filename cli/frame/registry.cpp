// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/registry.hpp"

#include <numeric>
#include <utility>
#include <vector>

namespace nodewise::cli {

const verb* find_verb(std::string_view name) noexcept {
  for (const verb& v : all_verbs()) {
    if (v.name == name || std::ranges::find(v.aliases, name) != v.aliases.end()) {
      return &v;
    }
  }
  return nullptr;
}

const flag* find_flag(std::span<const flag* const> flags, std::string_view name) noexcept {
  const auto found = std::ranges::find_if(
      flags, [&](const flag* f) { return f->name == name || (f->alias == name && !name.empty()); });
  return found == flags.end() ? nullptr : *found;
}

const flag* find_flag(std::span<const flag* const> flags, char letter) noexcept {
  const auto found = std::ranges::find(flags, letter, &flag::letter);
  return found == flags.end() ? nullptr : *found;
}

namespace {

/// The number of edits between two words: insert, delete, replace, or swap two neighbours.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before_last;
  std::vector<std::size_t> last(b.size() + 1);
  std::iota(last.begin(), last.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    std::vector<std::size_t> row(b.size() + 1, i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = a[i - 1] == b[j - 1];
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0U : 1U)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], before_last[j - 2] + 1);
      }
    }
    before_last = std::exchange(last, std::move(row));
  }
  return last.back();
}

} // namespace

std::string nearest(std::string_view word, std::span<const std::string_view> names) {
  std::string_view best;
  // Up to a third of the letters wrong is a typing error; more is another word.
  std::size_t least = std::max<std::size_t>(1, word.size() / 3) + 1;
  for (const std::string_view name : names) {
    const std::size_t edits = edit_distance(word, name);
    if (edits < least) {
      least = edits;
      best = name;
    }
  }
  if (best.empty() && word.size() >= 2) {
    const std::string last = "-" + std::string(word); // --plan for --write-plan
    const auto longer = std::ranges::find_if(names, [&](std::string_view name) {
      return name.starts_with(word) || name.ends_with(last);
    });
    best = longer == names.end() ? std::string_view{} : *longer;
  }
  return std::string{best};
}

} // namespace nodewise::cli
