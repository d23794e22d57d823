// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "spec/hwloc_words.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include <fmt/core.h>

#include "base/text.hpp"
#include "spec/numactl_list.hpp"

namespace nodewise::spec {

namespace {

constexpr char lower(char c) noexcept {
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

bool begins_whole(std::string_view word, std::string_view whole, std::size_t least) noexcept {
  return word.size() >= least && word.size() <= whole.size() &&
         std::ranges::equal(word, whole.substr(0, word.size()), {}, lower);
}

/// `least`: letters of the shortest abbreviation. No kind: the machine schema lacks it.
struct kind_word {
  std::string_view whole;
  std::size_t least;
  std::optional<object_kind> kind;
};
constexpr std::array<kind_word, 22> kind_words{{
    {"machine", 2, object_kind::machine},
    {"numanode", 2, object_kind::node},
    {"node", 2, object_kind::node},
    {"package", 2, object_kind::package},
    {"socket", 2, object_kind::package}, // its name before hwloc 1.11
    {"core", 2, object_kind::core},
    {"pu", 2, object_kind::pu},
    {"osdev", 2, {}},
    {"pcidev", 3, {}},
    {"die", 2, {}},
    {"group", 2, {}},
    {"misc", 4, {}},
    {"bridge", 4, {}},
    {"hostbridge", 6, {}},
    {"pcibridge", 5, {}},
    {"block", 4, {}},
    {"network", 3, {}},
    {"openfabrics", 7, {}},
    {"dma", 3, {}},
    {"gpu", 3, {}},
    {"coproc", 5, {}},
    {"memcache", 5, {}},
}};

/// "l3", "L1i", "l2cache".
std::optional<level> read_cache(std::string_view word) {
  if (word.size() < 2 || lower(word[0]) != 'l' || word[1] < '1' || word[1] > '5') {
    return std::nullopt;
  }
  level found;
  found.kind = object_kind::cache;
  found.cache_level = word[1] - '0';
  std::string_view rest = word.substr(2);
  if (!rest.empty() && (lower(rest[0]) == 'i' || lower(rest[0]) == 'd' || lower(rest[0]) == 'u')) {
    found.instruction_cache = lower(rest[0]) == 'i';
    rest.remove_prefix(1);
  }
  return begins_whole(rest, "cache", 0) ? std::optional(found) : std::nullopt;
}

[[noreturn]] void refuse_range(std::string_view range, const char* answered) {
  refuse(fmt::format("the numbers '{}' of a location", range), answered,
         "write 0, 0-3, 2- (to the last), 0:4 (four from 0), all, odd or even");
}

index_range read_range(std::string_view text) {
  if (text == "all") {
    return {0, -1, 1, false};
  }
  if (text == "odd" || text == "even") {
    return {text == "odd" ? 1 : 0, -1, 2, false};
  }
  const std::size_t at = text.find_first_not_of("0123456789");
  index_range range;
  range.first = number_of(text.substr(0, at));
  if (range.first < 0) {
    refuse_range(text, "the number is missing or too large");
  }
  if (at == std::string_view::npos) {
    return range;
  }
  const std::string_view rest = text.substr(at + 1);
  const int second = number_of(rest);
  if (text[at] == '-' && rest.empty()) {
    range.amount = -1;
  } else if (text[at] == '-' && second >= range.first) {
    range.amount = second - range.first + 1;
  } else if (text[at] == ':' && second > 0) {
    range.amount = second;
    range.wraps = true;
  } else {
    refuse_range(text, second >= 0 ? "the range is backwards or empty" : "not a range of numbers");
  }
  return range;
}

/// "[hbm]" after the name of a kind.
void read_filter(level& one, std::string_view filter) {
  constexpr std::array<std::pair<std::string_view, memory_kind>, 9> names{{
      {"dram", memory_kind::dram},
      {"hbm", memory_kind::hbm},
      {"mcdram", memory_kind::hbm},
      {"cxl", memory_kind::cxl},
      {"cxl-dram", memory_kind::cxl},
      {"gpu", memory_kind::gpu},
      {"gpumemory", memory_kind::gpu},
      {"nvm", memory_kind::other},
      {"spm", memory_kind::other},
  }};
  const std::string asked = fmt::format("{}[{}]", one.name, filter);
  if (filter.starts_with("cpukind=")) {
    refuse(asked, "the kinds of this machine's cores are unknown",
           "name the cores by number; `lstopo --cpukinds` shows their kinds");
  }
  if (filter.starts_with("subtype=")) {
    filter.remove_prefix(8);
  }
  const auto* const found = std::ranges::find_if(names, [&](const auto& entry) {
    return filter.size() == entry.first.size() && begins_whole(filter, entry.first, 1);
  });
  if (one.kind != object_kind::node || found == names.end()) {
    refuse(asked, "unknown filter",
           "nodes can be filtered by memory: numa[dram], numa[hbm], numa[cxl], numa[gpu]");
  }
  one.memory = found->second;
}

/// "core", "numa[hbm]"
level read_named(std::string_view name) {
  const std::size_t bracket = name.find('[');
  const std::string_view word = name.substr(0, bracket);
  if (begins_whole(word, "hbm", 3) || begins_whole(word, "mcdram", 6)) { // hwloc's short forms
    level one;
    one.kind = object_kind::node;
    one.name = word;
    one.memory = memory_kind::hbm;
    return one;
  }
  std::optional<level> one = read_kind(word);
  if (!one) {
    refuse(fmt::format("the location's '{}'", name),
           is_hwloc_word(word) ? "such objects of this machine are unknown"
                               : "unknown kind of object",
           "name machine, package, numa, l3 (l1 to l5), core or pu");
  }
  one->name = word;
  if (bracket != std::string_view::npos) {
    if (!name.ends_with(']')) {
      refuse(fmt::format("the location's '{}'", name), "the bracket is not closed",
             "write it as numa[hbm]:0");
    }
    read_filter(*one, name.substr(bracket + 1, name.size() - bracket - 2));
  }
  return *std::move(one);
}

/// "package:1.core:0-3"
std::vector<level> read_levels(std::string_view text) {
  std::vector<level> levels;
  constexpr std::size_t most = 16; // deeper than any real machine
  for (std::string_view rest = text; levels.empty() || !rest.empty();) {
    const std::string_view step = take_until(rest, '.');
    const std::size_t bracket = step.find(']');
    const std::size_t colon = step.find(':', bracket == std::string_view::npos ? 0 : bracket);
    if (colon == std::string_view::npos || colon == 0 || levels.size() == most) {
      refuse(fmt::format("the location '{}'", text),
             fmt::format("'{}' is not a kind of object with numbers", step),
             "write it as package:1.core:0-3");
    }
    level one = read_named(step.substr(0, colon));
    one.which = read_range(step.substr(colon + 1));
    levels.push_back(std::move(one));
  }
  if (text.ends_with('.')) {
    refuse(fmt::format("the location '{}'", text), "nothing follows its last dot",
           "write it as package:1.core:0-3");
  }
  return levels;
}

void insert_digits(cpu_set& mask, std::string_view digits, int lowest) {
  for (std::size_t i = 0; i < digits.size(); ++i) {
    const char c = lower(digits[digits.size() - 1 - i]);
    const int value = c <= '9' ? c - '0' : c - 'a' + 10;
    for (int bit = 0; bit < 4; ++bit) {
      if (((value >> bit) & 1) != 0) {
        mask.insert(cpu_id{lowest + static_cast<int>(i) * 4 + bit});
      }
    }
  }
}

/// "0x0f" of any length, or "0xff,0x0": words of 32 processors, the highest first.
std::optional<cpu_set> read_mask_text(std::string_view text) {
  constexpr std::size_t most_digits = 4096;
  if (!text.starts_with("0x") && !text.starts_with("0X")) {
    return std::nullopt;
  }
  const std::vector<std::string_view> words = split(text, ',');
  cpu_set mask;
  const bool single = words.size() == 1;
  for (std::size_t i = 0; i < words.size(); ++i) {
    std::string_view word = words[words.size() - 1 - i];
    word.remove_prefix(word.starts_with("0x") || word.starts_with("0X") ? 2 : 0);
    if (word.empty() ||
        word.find_first_not_of("0123456789abcdefABCDEF") != std::string_view::npos ||
        word.size() > (single ? most_digits : 8) || words.size() > most_digits / 8) {
      refuse(fmt::format("the mask '{}'", text), fmt::format("'{}' is not part of a mask", word),
             "write hexadecimal digits: 0x0f, or words of 32 processors: 0xff,0x0");
    }
    insert_digits(mask, word, static_cast<int>(i) * 32);
  }
  return mask;
}

location read_location(std::string_view text) {
  location one;
  one.text = text;
  std::string_view rest = text;
  constexpr std::string_view marks = "~x^";
  constexpr std::array meanings{combination::clear, combination::intersect, combination::exclusive};
  if (const std::size_t mark = marks.find(rest.front()); mark != std::string_view::npos) {
    one.how = meanings[mark];
    rest.remove_prefix(1);
  }
  if (rest == "all" || rest == "root" || rest == "machine") {
    return one;
  }
  one.mask = read_mask_text(rest);
  const std::size_t at = rest.find_first_of(":=[.");
  if (at != std::string_view::npos && rest[at] == '=') {
    one.device = hwloc_device_name(rest.substr(0, at), rest.substr(at + 1));
  }
  if (!one.mask && !one.device) {
    one.levels = read_levels(rest);
  }
  return one;
}

} // namespace

std::optional<level> read_kind(std::string_view word) {
  for (const kind_word& each : kind_words) {
    if (each.kind && begins_whole(word, each.whole, each.least)) {
      level one;
      one.kind = *each.kind;
      return one;
    }
  }
  return read_cache(word);
}

bool is_hwloc_word(std::string_view word) noexcept {
  const auto is = [word](const auto& each) { return begins_whole(word, each.whole, each.least); };
  // "group0", "l3"
  const std::string_view letters = word.substr(0, word.find_first_of("0123456789"));
  return std::ranges::any_of(kind_words, is) || begins_whole(letters, "group", 2) ||
         begins_whole(word, "hbm", 3) || begins_whole(word, "mcdram", 6) ||
         (word.size() >= 2 && lower(word[0]) == 'l' && word[1] >= '0' && word[1] <= '9');
}

std::vector<location> read_locations(std::string_view text) {
  std::vector<location> all;
  for (std::string_view rest = text; !rest.empty();) {
    const std::string_view one = take_until(rest, ' ');
    if (one == "~" || one == "x" || one == "^") {
      refuse(fmt::format("the location '{}'", one), "it names nothing",
             "write ~ (without), x (and) and ^ (one of both) right before a location");
    }
    if (!one.empty()) {
      all.push_back(read_location(one));
    }
  }
  return all;
}

} // namespace nodewise::spec
