// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "plan/plan_words.hpp"

#include <algorithm>
#include <array>
#include <charconv>

#include <nodewise/error.hpp>

#include "base/hexadecimal.hpp"
#include "base/size_text.hpp"

namespace nodewise::plans {

namespace {

/// User input as error messages quote it, shortened to 60 characters.
std::string quoted(std::string_view text) {
  constexpr std::size_t longest = 60;
  const bool cut = text.size() > longest;
  return "'" + std::string(text.substr(0, longest)) + (cut ? "...'" : "'");
}

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

std::optional<std::uint64_t> number(std::string_view text, int base = 10) {
  std::uint64_t value = 0;
  const auto [stop, code] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return code == std::errc{} && stop == text.data() + text.size() ? std::optional(value)
                                                                  : std::nullopt;
}

/// Exact size: "8M", "64K", "8388609".
std::string size_text(std::uint64_t bytes) {
  constexpr std::string_view units = "PTGMK";
  for (std::size_t i = 0; bytes != 0 && i < units.size(); ++i) {
    const std::size_t shift = 10 * (units.size() - i);
    if (bytes >> shift << shift == bytes) {
      return std::to_string(bytes >> shift) + units[i];
    }
  }
  return std::to_string(bytes);
}

std::uint64_t read_size(std::string_view whole, std::string_view text) {
  const auto bytes = parse_size(trimmed(text));
  if (!bytes) {
    refuse(whole, quoted(text) + " is no size", "write bytes, or K, M, G: 64K, 8MiB");
  }
  if (*bytes > largest_object) {
    refuse(whole, quoted(text) + " is more than a process can have", "write at most 128T");
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
      refuse(whole, quoted(text) + " does not say whether more or less will do", range_hint);
    }
    return {read_size(whole, text.substr(0, dash)), read_size(whole, text.substr(dash + 1))};
  }
  const std::uint64_t bytes = read_size(whole, text.substr(length));
  if (relation == ">=") {
    return {bytes, std::nullopt};
  }
  if (relation == ">") {
    return {std::min(bytes + 1, largest_object), std::nullopt};
  }
  if (relation == "<=") {
    return {0, bytes};
  }
  if (relation == "=") {
    return {bytes, bytes};
  }
  if (relation != "<" || bytes == 0) {
    refuse(whole, quoted(text) + " is no range of sizes", range_hint);
  }
  return {0, bytes - 1};
}

struct placement_word {
  std::string_view name;
  layout how;
};
constexpr std::array placement_words = {
    placement_word{"none", layout::untouched},         placement_word{"blocked", layout::blocked},
    placement_word{"interleave", layout::interleaved}, placement_word{"cyclic", layout::cyclic},
    placement_word{"thread", layout::on_thread},
};

} // namespace

std::string text_of(const code_place& place) {
  return place.module + "+" + hexadecimal(place.offset);
}

code_place read_code_place(std::string_view text) {
  const std::size_t plus = text.rfind('+');
  const std::string_view module = text.substr(0, plus);
  const std::string_view offset =
      plus == std::string_view::npos ? std::string_view{} : text.substr(plus + 1);
  const auto value = offset.starts_with("0x") ? number(offset.substr(2), 16) : number(offset);
  if (module.empty() || !value || *value == 0 || *value > largest_object) {
    refuse(text, quoted(text) + " is no place in a module",
           "write MODULE+0x1234, the address behind the call from the module's start");
  }
  if (module.find('/') != std::string_view::npos) {
    refuse(text, quoted(module) + " is a path", "write the last part of the file's name alone");
  }
  return {std::string(module), *value};
}

std::string text_of(const byte_range& sizes) {
  if (!sizes.most) {
    return sizes.least == 0 ? "" : ">= " + size_text(sizes.least);
  }
  if (sizes.least == sizes.most) {
    return "= " + size_text(sizes.least);
  }
  return sizes.least == 0 ? "<= " + size_text(*sizes.most)
                          : size_text(sizes.least) + "-" + size_text(*sizes.most);
}

byte_range read_byte_range(std::string_view text) {
  byte_range all;
  std::string_view rest = text;
  do {
    const byte_range one = read_one_range(text, trimmed(take_word(rest, ",")));
    all.least = std::max(all.least, one.least);
    all.most = one.most ? std::min(all.most.value_or(*one.most), *one.most) : all.most;
  } while (!rest.empty());
  if (all.most && *all.most < all.least) {
    refuse(text, "no object is of such a size", "write the smaller size first");
  }
  return all;
}

std::string text_of(const ordinals& which) {
  if (!which.first && !which.last) {
    return {};
  }
  const std::uint64_t first = which.first.value_or(0);
  const std::string text = std::to_string(first);
  if (!which.last) {
    return text + "-";
  }
  return *which.last == first + 1 ? text : text + "-" + std::to_string(*which.last - 1);
}

ordinals read_ordinals(std::string_view text) {
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  const std::size_t dash = text.find('-');
  const std::string_view behind =
      dash == std::string_view::npos ? text.substr(0, dash) : text.substr(dash + 1);
  const auto first = number(text.substr(0, dash));
  const auto last = behind.empty() ? first : number(behind);
  if (!first || !last || *last < *first || *last > most) {
    refuse(text, quoted(text) + " names no objects",
           "write \"0\", \"0-3\" or \"4-\": the first that is made is 0");
  }
  return {first, behind.empty() ? std::nullopt : std::optional(*last + 1)};
}

std::string text_of(const std::vector<part_run>& parts) {
  std::string text;
  for (const part_run& run : parts) {
    text += (text.empty() ? "" : " ") + std::to_string(run.thread);
    text += "*" + std::to_string(run.parts);
  }
  return text;
}

std::vector<part_run> read_parts(std::string_view text) {
  std::vector<part_run> parts;
  std::uint64_t sum = 0;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view word = take_word(rest, " ,");
    if (word.empty()) {
      continue;
    }
    const std::size_t star = word.find('*');
    const auto thread = number(word.substr(0, star));
    const auto count = star == std::string_view::npos ? std::optional(std::uint64_t{1})
                                                      : number(word.substr(star + 1));
    if (!thread || !count || *count == 0) {
      refuse(text, quoted(word) + " is no part of a map",
             "write THREAD*PARTS, one behind the other: \"0*128 1*128\"");
    }
    if (*thread >= most_threads) {
      refuse(text, "a map with thread " + std::to_string(*thread),
             "number threads from 0 to " + std::to_string(most_threads - 1));
    }
    if (*count > most_parts - sum) {
      refuse(text, "a map of more parts than any object has pages",
             "parts are relative: divide them all by the same number");
    }
    sum += *count;
    parts.push_back({*count, static_cast<std::size_t>(*thread)});
  }
  if (parts.empty()) {
    refuse(text, "a map without parts", "write THREAD*PARTS, such as \"0*128 1*128\"");
  }
  return parts;
}

std::string placement_text(const entry& what) {
  const auto* const word = std::ranges::find(placement_words, what.how, &placement_word::how);
  std::string text(word == placement_words.end() ? "none" : word->name);
  if (what.how == layout::cyclic && what.granule_bytes != 0) {
    text += ":" + size_text(what.granule_bytes);
  } else if (what.how == layout::on_thread) {
    text += ":" + std::to_string(what.thread);
  } else if (what.how == layout::interleaved && !what.memories.empty()) {
    return text_of(what.memories);
  }
  return text;
}

void read_placement(std::string_view text, entry& into) {
  const std::size_t colon = text.find(':');
  const auto* const word =
      std::ranges::find(placement_words, text.substr(0, colon), &placement_word::name);
  const bool more = colon != std::string_view::npos;
  const std::string_view rest = more ? text.substr(colon + 1) : std::string_view{};
  if (more && text.substr(0, colon) == "weighted") {
    into.how = layout::interleaved;
    into.memories = read_weights(rest);
    return;
  }
  const bool takes_more = word != placement_words.end() &&
                          (word->how == layout::cyclic || word->how == layout::on_thread ||
                           word->how == layout::interleaved);
  if (word == placement_words.end() || (more && (!takes_more || rest.empty())) ||
      (!more && word->how == layout::on_thread)) {
    refuse(text, "there is no placement " + quoted(text),
           "write none, blocked, interleave, interleave:NODES, weighted:NODE=WEIGHT,..., cyclic, "
           "cyclic:SIZE, thread:N or { \"map\": ... }");
  }
  into.how = word->how;
  if (into.how == layout::cyclic && more) {
    into.granule_bytes = read_size(text, rest);
    if (into.granule_bytes == 0) {
      refuse(text, "a granule of 0 bytes", "write for example cyclic:64K");
    }
  } else if (into.how == layout::on_thread) {
    const auto thread = number(rest);
    if (!thread || *thread >= most_threads) {
      refuse(text, quoted(rest) + " is no thread",
             "number threads from 0 to " + std::to_string(most_threads - 1));
    }
    into.thread = static_cast<std::size_t>(*thread);
  } else if (into.how == layout::interleaved && more) {
    into.memories = read_nodes(rest);
  }
}

} // namespace nodewise::plans
