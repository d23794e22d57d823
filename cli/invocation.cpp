// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/invocation.hpp"

#include <algorithm>
#include <charconv>
#include <ranges>

#include "base/size_text.hpp"

namespace nodewise::cli {

bool invocation::has(const flag& which) const noexcept {
  return std::ranges::any_of(options, [&](const option& o) { return o.what == &which; });
}

std::optional<std::string_view> invocation::text(const flag& which) const noexcept {
  for (const option& o : std::views::reverse(options)) {
    if (o.what == &which) {
      return o.value;
    }
  }
  return std::nullopt;
}

std::vector<std::string_view> invocation::texts(const flag& which) const {
  std::vector<std::string_view> all;
  for (const option& o : options) {
    if (o.what == &which) {
      all.emplace_back(o.value);
    }
  }
  return all;
}

std::optional<long long> invocation::number(const flag& which, long long least,
                                            long long most) const {
  const auto typed = text(which);
  if (!typed) {
    return std::nullopt;
  }
  const std::string given(*typed);
  long long value = 0;
  const char* const end = given.data() + given.size();
  const auto [stop, code] = std::from_chars(given.data(), end, value);
  const bool in_limits = code == std::errc{} && stop == end && value >= least && value <= most;
  if (!in_limits) {
    const bool bounded = most != std::numeric_limits<long long>::max();
    throw error(error_kind::usage, option_name(which) + " " + given,
                "it takes a whole number " +
                    (bounded ? "from " + std::to_string(least) + " to " + std::to_string(most)
                             : "of at least " + std::to_string(least)),
                "write for example " + option_name(which) + " " + std::to_string(least));
  }
  return value;
}

std::optional<std::uint64_t> invocation::bytes(const flag& which) const {
  const auto typed = text(which);
  if (!typed) {
    return std::nullopt;
  }
  const auto bytes = parse_size(*typed);
  if (!bytes) {
    throw error(error_kind::usage, option_name(which) + " " + std::string(*typed),
                "it takes a size in bytes, or with K, M, G, T (powers of 1024)",
                "write for example " + option_name(which) + " 1MiB");
  }
  return bytes;
}

std::vector<std::string>
invocation::arguments_without(std::span<const flag* const> left_out) const {
  std::vector<std::string> all;
  if (verb != nullptr) {
    all.emplace_back(verb->name);
  }
  for (const option& o : options) {
    if (std::ranges::find(left_out, o.what) == left_out.end()) {
      all.push_back(option_name(*o.what) +
                    (o.what->kind == flag_kind::toggle ||
                             (o.what->kind == flag_kind::optional_value && o.value.empty())
                         ? ""
                         : "=" + o.value));
    }
  }
  const bool words_first = verb != nullptr && verb->takes == operands::names_or_program;
  if (words_first) {
    all.insert(all.end(), operands.begin(), operands.end());
  }
  if ((!operands.empty() && !words_first) || !program.empty()) {
    all.emplace_back("--");
  }
  if (!words_first) {
    all.insert(all.end(), operands.begin(), operands.end());
  }
  all.insert(all.end(), program.begin(), program.end());
  return all;
}

std::string option_name(const flag& which) {
  return "--" + std::string(which.name);
}

} // namespace nodewise::cli
