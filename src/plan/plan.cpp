// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

#include <algorithm>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::plans {

namespace {

using placements::largest_object;

[[noreturn]] void refuse(std::string_view text, const std::string& answered,
                         const std::string& hint) {
  throw error(error_kind::usage, std::string(text), answered, hint);
}

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  return first == std::string_view::npos
             ? std::string_view{}
             : text.substr(first, text.find_last_not_of(' ') - first + 1);
}

/// Removes the text before the first of `separators`, and that separator, from the front.
std::string_view take_word(std::string_view& text, std::string_view separators) {
  const std::size_t end = std::min(text.find_first_of(separators), text.size());
  const std::string_view word = text.substr(0, end);
  text.remove_prefix(std::min(end + 1, text.size()));
  return word;
}

std::uint64_t read_size(std::string_view whole, std::string_view text) {
  const auto bytes = parse_size(trimmed(text));
  if (!bytes) {
    refuse(whole, fmt::format("{} is not a size", in_quotes(text)),
           "write bytes, or K, M, G: 64K, 8MiB");
  }
  if (*bytes > largest_object) {
    refuse(whole, fmt::format("{} is more than a process can have", in_quotes(text)),
           "write at most 128T");
  }
  return *bytes;
}

constexpr const char* range_hint = "write \">= 8M\", \"< 1G\", \"= 4096\" or \"8M-16M\"";

/// One condition of several.
byte_range read_one_range(std::string_view whole, std::string_view text) {
  const std::size_t length = std::min(text.find_first_not_of("<>="), text.size());
  const std::string_view relation = text.substr(0, length);
  if (relation.empty()) {
    const std::size_t dash = text.find('-');
    if (dash == std::string_view::npos) {
      refuse(whole, fmt::format("{} lacks a comparison", in_quotes(text)), range_hint);
    }
    return {read_size(whole, text.substr(0, dash)), read_size(whole, text.substr(dash + 1))};
  }
  const std::uint64_t bytes = read_size(whole, text.substr(length));
  if (relation == ">=" || relation == ">") {
    return {relation == ">=" ? bytes : std::min(bytes + 1, largest_object), std::nullopt};
  }
  if (relation == "<=" || relation == "=") {
    return {relation == "=" ? bytes : 0, bytes};
  }
  if (relation != "<" || bytes == 0) {
    refuse(whole, fmt::format("{} is not a range of sizes", in_quotes(text)), range_hint);
  }
  return {0, bytes - 1};
}

} // namespace

std::optional<std::uint64_t> read_offset(std::string_view text) noexcept {
  const auto value = text.starts_with("0x") ? parse_number<std::uint64_t>(text.substr(2), 16)
                                            : parse_number<std::uint64_t>(text);
  return value && *value <= largest_object ? value : std::nullopt;
}

std::string text_of(const code_place& place) {
  return fmt::format("{}+{:#x}", place.module, place.offset);
}

code_place read_code_place(std::string_view text) {
  const std::size_t plus = text.rfind('+');
  const std::string_view module = text.substr(0, plus);
  const auto value =
      plus == std::string_view::npos ? std::nullopt : read_offset(text.substr(plus + 1));
  if (module.empty() || value.value_or(0) == 0) {
    refuse(text, fmt::format("{} is not a place in a module", in_quotes(text)),
           "write MODULE+0x1234, the offset after the call from the module's start");
  }
  if (module.find('/') != std::string_view::npos) {
    refuse(text, fmt::format("{} is a path", in_quotes(module)),
           "write only the last part of the file's name");
  }
  return {std::string(module), *value};
}

std::string text_of(const byte_range& sizes) {
  if (!sizes.most_bytes) {
    return sizes.least_bytes == 0 ? "" : fmt::format(">= {}", exact_size_text(sizes.least_bytes));
  }
  const std::string most = exact_size_text(*sizes.most_bytes);
  if (sizes.least_bytes == sizes.most_bytes) {
    return fmt::format("= {}", most);
  }
  return sizes.least_bytes == 0 ? fmt::format("<= {}", most)
                                : fmt::format("{}-{}", exact_size_text(sizes.least_bytes), most);
}

byte_range read_byte_range(std::string_view text) {
  byte_range all;
  std::string_view rest = text;
  do {
    const byte_range one = read_one_range(text, trimmed(take_word(rest, ",")));
    all.least_bytes = std::max(all.least_bytes, one.least_bytes);
    all.most_bytes = one.most_bytes
                         ? std::min(all.most_bytes.value_or(*one.most_bytes), *one.most_bytes)
                         : all.most_bytes;
  } while (!rest.empty());
  if (all.most_bytes && *all.most_bytes < all.least_bytes) {
    refuse(text, "no object is of such a size", "write the smaller size first");
  }
  return all;
}

std::string text_of(const ordinals& which) {
  if (!which.first && !which.last) {
    return {};
  }
  const std::uint64_t first = which.first.value_or(0);
  if (!which.last) {
    return fmt::format("{}-", first);
  }
  return *which.last == first + 1 ? fmt::format("{}", first)
                                  : fmt::format("{}-{}", first, *which.last - 1);
}

ordinals read_ordinals(std::string_view text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const std::size_t dash = text.find('-');
  const std::string_view behind =
      dash == std::string_view::npos ? text.substr(0, dash) : text.substr(dash + 1);
  const auto first = parse_number<std::uint64_t>(text.substr(0, dash));
  const auto last = behind.empty() ? first : parse_number<std::uint64_t>(behind);
  if (!first || !last || *last < *first || *last > most) {
    refuse(text, fmt::format("{} names no objects", in_quotes(text)),
           "write \"0\", \"0-3\" or \"4-\": the first that is allocated is 0");
  }
  return {first, behind.empty() ? std::nullopt : std::optional(*last + 1)};
}

std::string label_of(const condition& which) {
  if (!which.source.empty()) {
    return which.source;
  }
  if (which.symbol) {
    return *which.symbol;
  }
  if (which.file) {
    return *which.file;
  }
  if (!which.stack.empty()) {
    return text_of(which.stack.front());
  }
  return which.kind.empty() ? "any" : which.kind;
}

std::string label_of(const entry& what) {
  return what.name.empty() ? label_of(what.which) : what.name;
}

} // namespace nodewise::plans
