// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/invocation.hpp"

#include <cmath>

#include <fmt/core.h>

#include "base/numbers.hpp"

namespace nodewise::cli {

namespace {

[[noreturn]] void refuse_value(const flag& which, std::string_view value, const std::string& takes,
                               std::string_view example) {
  throw error(error_kind::usage, fmt::format("--{} {}", which.name, value), takes,
              fmt::format("write for example --{} {}", which.name, example));
}

} // namespace

bool invocation::has(const flag& which) const noexcept {
  return std::ranges::any_of(options, [&](const option& o) { return o.what == &which; });
}

const flag* invocation::selected_form() const noexcept {
  const auto found = std::ranges::find_if(options, &flag::is_form, &option::what);
  return found == options.end() ? nullptr : found->what;
}

std::optional<std::string_view> invocation::text(const flag& which) const noexcept {
  const auto latest_first = std::views::reverse(options);
  const auto found = std::ranges::find(latest_first, &which, &option::what);
  return found == latest_first.end() ? std::nullopt : std::optional<std::string_view>(found->value);
}

std::optional<std::string_view> invocation::given_value(const flag& which) const noexcept {
  const auto typed = text(which);
  const bool left_out = typed && typed->empty() && which.kind == flag_kind::optional_value;
  return left_out ? std::nullopt : typed;
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
  const auto typed = given_value(which);
  if (!typed) {
    return std::nullopt;
  }
  const auto value = parse_number<long long>(*typed);
  if (!value || *value < least || *value > most) {
    const bool bounded = most != std::numeric_limits<long long>::max();
    refuse_value(which, *typed,
                 bounded ? fmt::format("it takes a whole number from {} to {}", least, most)
                         : fmt::format("it takes a whole number of at least {}", least),
                 std::to_string(least));
  }
  return value;
}

std::optional<std::chrono::milliseconds> invocation::time(const flag& which,
                                                          std::chrono::milliseconds least) const {
  const auto typed = given_value(which);
  if (!typed) {
    return std::nullopt;
  }
  constexpr double most = 1e6;
  const double lowest = std::chrono::duration<double>(least).count();
  const auto seconds = parse_real(*typed);
  if (!seconds || !(*seconds >= lowest) || *seconds > most) {
    refuse_value(which, *typed,
                 fmt::format("it takes a number of seconds from {} to a million", lowest), "0.5");
  }
  return std::chrono::milliseconds{std::lround(*seconds * 1000)};
}

std::optional<std::uint64_t> invocation::bytes(const flag& which) const {
  const auto typed = text(which);
  if (!typed) {
    return std::nullopt;
  }
  const auto bytes = parse_size(*typed);
  if (!bytes) {
    refuse_value(which, *typed, "it takes a size in bytes, or with K, M, G, T (powers of 1024)",
                 "1MiB");
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
      all.push_back(word_of(o));
    }
  }
  const bool words_first = verb != nullptr && verb->takes == operands::names_or_program;
  std::vector<std::string> last = program; // after "--"
  std::vector<std::string>& words = words_first ? all : last;
  words.insert(words_first ? words.end() : words.begin(), operands.begin(), operands.end());
  if (!last.empty()) {
    all.emplace_back("--");
  }
  all.insert(all.end(), last.begin(), last.end());
  return all;
}

std::string word_of(const invocation::option& of) {
  const bool alone = of.what->kind == flag_kind::toggle ||
                     (of.what->kind == flag_kind::optional_value && of.value.empty());
  return option_name(*of.what) + (alone ? "" : "=" + of.value);
}

std::string option_name(const flag& which) {
  return fmt::format("--{}", which.name);
}

int process_number(std::string_view text) {
  const int number = parse_number<int>(text).value_or(0);
  if (number <= 0) {
    throw error(error_kind::usage, fmt::format("the process '{}'", text),
                "it is not the number of a process",
                "`ps -e` lists processes; write -- before a program to start");
  }
  return number;
}

} // namespace nodewise::cli
