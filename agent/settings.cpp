// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/settings.hpp"

#include <algorithm>
#include <cstring>
#include <iterator>

namespace nodewise::agent {

namespace {

constexpr std::size_t max_slots = std::size_t{1} << 24;

struct kind_name {
  const char* name;
  unsigned bit;
};
constexpr kind_name kind_names[] = {
    {"heap", 1U << NODEWISE_AGENT_HEAP},     {"map", 1U << NODEWISE_AGENT_MAP},
    {"static", 1U << NODEWISE_AGENT_STATIC}, {"group", 1U << NODEWISE_AGENT_GROUP},
    {"file", 1U << NODEWISE_AGENT_FILE},
};

/// Moves `at` past `expected` if the text continues with it.
bool take(const char*& at, const char* expected) noexcept {
  const std::size_t length = std::strlen(expected);
  if (std::strncmp(at, expected, length) != 0) {
    return false;
  }
  at += length;
  return true;
}

bool take_number(const char*& at, std::size_t limit, std::size_t& value) noexcept {
  if (*at < '0' || *at > '9') {
    return false;
  }
  for (value = 0; *at >= '0' && *at <= '9'; ++at) {
    const auto digit = static_cast<std::size_t>(*at - '0');
    if (value > (limit - digit) / 10) {
      return false;
    }
    value = value * 10 + digit;
  }
  return true;
}

int hexadecimal(char letter) noexcept {
  if (letter >= '0' && letter <= '9') {
    return letter - '0';
  }
  return letter >= 'A' && letter <= 'F' ? letter - 'A' + 10 : -1;
}

/// Decodes one byte of an encoded name and moves `at` past it.
char decoded(const char*& at) noexcept {
  if (*at != '%') {
    return *at++;
  }
  const int high = hexadecimal(at[1]);
  const int low = high < 0 ? -1 : hexadecimal(at[2]);
  if (low < 0) {
    return *at++;
  }
  at += 3;
  return static_cast<char>(high * 16 + low);
}

/// Reads a name of at least one byte, up to one of `ends`.
bool take_name(const char*& at, const char* ends, const char*& name) noexcept {
  name = at;
  at += std::strcspn(at, ends);
  return at != name;
}

class reader {
 public:
  reader(const char* text, settings& into) noexcept : at_(text), into_(into) {}

  const char* read() noexcept {
    if (!take(at_, NODEWISE_AGENT_SETTINGS) || (*at_ != ';' && *at_ != '\0')) {
      return "settings of another version";
    }
    while (take(at_, ";")) {
      const char* const wrong = part();
      if (wrong != nullptr) {
        return wrong;
      }
    }
    if (*at_ != '\0') {
      return "settings that are not separated by semicolons";
    }
    if (into_.threshold_bytes == 0) {
      return "no threshold";
    }
    bool all = give_owners(into_.standard);
    for (std::size_t i = 0; i < into_.rule_count; ++i) {
      all = give_owners(into_.rules[i].where) && all;
    }
    return all ? nullptr : "blocked without owners";
  }

 private:
  const char* part() noexcept {
    if (take(at_, "threshold=")) {
      return size(into_.threshold_bytes) ? nullptr : "an invalid threshold";
    }
    if (take(at_, "group=")) {
      return size(into_.group_bytes) ? nullptr : "an invalid size of the blocks of groups";
    }
    if (take(at_, "huge=")) {
      return huge_page() ? nullptr : "an invalid size of huge pages";
    }
    if (take(at_, "owners=")) {
      return owners(into_.owners) ? nullptr : "an invalid list of owners";
    }
    if (take(at_, "default=")) {
      return where(into_.standard) ? nullptr : "an invalid placement";
    }
    if (take(at_, "rule=")) {
      return one_rule();
    }
    if (take(at_, "pin=")) {
      into_.pin = at_;
      at_ += std::strspn(at_, "0123456789,-|");
      return nullptr;
    }
    if (take(at_, "report=")) {
      into_.report = at_;
      at_ += std::strlen(at_);
      return nullptr;
    }
    return flag() ? nullptr : "an unknown setting";
  }

  /// A setting without a value.
  bool flag() noexcept {
    struct named_flag {
      const char* name;
      bool settings::* into;
    };
    static constexpr named_flag flags[] = {
        {"main", &settings::main_works},       {"observe", &settings::observe},
        {"trace", &settings::trace},           {"numa-pin", &settings::numa_pin},
        {"announce", &settings::announce},     {"quiet", &settings::quiet},
        {"read-files", &settings::reads_files}};
    const named_flag* const found = take_one_of(flags);
    if (found != nullptr) {
      into_.*found->into = true;
    }
    return found != nullptr;
  }

  template <class Named, std::size_t count>
  const Named* take_one_of(const Named (&all)[count]) noexcept {
    for (const Named& each : all) {
      if (take(at_, each.name)) {
        return &each;
      }
    }
    return nullptr;
  }

  bool size(std::size_t& value) noexcept {
    return take_number(at_, PTRDIFF_MAX, value) && value != 0;
  }

  /// A power of two: edges are rounded to it.
  bool huge_page() noexcept {
    return size(into_.huge_page_bytes) &&
           (into_.huge_page_bytes & (into_.huge_page_bytes - 1)) == 0;
  }

  /// "0*4,1*4", or "0" for "0*1".
  bool owners(owner_list& list) noexcept {
    list = {into_.run + into_.run_count, 0, 0, 0};
    do {
      std::size_t node = 0;
      std::size_t count = 1;
      if (!take_number(at_, NODEWISE_AGENT_MAX_NODES - 1, node) ||
          (take(at_, "*") && !take_number(at_, max_slots, count)) || count == 0 ||
          list.slots + count > max_slots) {
        return false;
      }
      const int number = static_cast<int>(node);
      if (list.runs == 0 || list.run[list.runs - 1].node != number) {
        if (into_.run_count == NODEWISE_AGENT_MAX_RUNS) {
          return false;
        }
        into_.run[into_.run_count++] = {list.slots, number};
        ++list.runs;
      }
      list.slots += count;
    } while (take(at_, ","));
    list.shortest = shortest_of(list);
    return true;
  }

  static std::size_t shortest_of(const owner_list& list) noexcept {
    std::size_t shortest = list.slots;
    for (std::size_t run = 0; run < list.runs; ++run) {
      const std::size_t end = run + 1 < list.runs ? list.run[run + 1].first_slot : list.slots;
      const std::size_t length = end - list.run[run].first_slot;
      shortest = length < shortest ? length : shortest;
    }
    return shortest;
  }

  /// KIND[@GRANULE_BYTES][@RUNS]; the launcher turns the other kinds into these.
  bool where(placement& into) noexcept {
    for (std::size_t i = 0; i < std::size(placements::all_traits); ++i) {
      into.kind = static_cast<placement_kind>(i);
      const placements::traits& form = placements::traits_of(into.kind);
      if (form.sent_as == into.kind && take(at_, form.word)) {
        return granule(form.granule, into.granule_bytes) &&
               (!form.lists_owners() || (take(at_, "@") && owners(into.owners)));
      }
    }
    return false;
  }

  bool granule(placements::granule_field field, std::size_t& bytes) noexcept {
    if (field == placements::granule_field::always) {
      return take(at_, "@") && take_number(at_, PTRDIFF_MAX, bytes);
    }
    return field == placements::granule_field::never || !take(at_, "@") || size(bytes);
  }

  const char* one_rule() noexcept {
    if (into_.rule_count == NODEWISE_AGENT_MAX_RULES) {
      return "too many rules";
    }
    rule& made = into_.rules[into_.rule_count];
    made = {};
    made.most_bytes = PTRDIFF_MAX;
    made.first_code = into_.code_count;
    made.first_above = into_.above_count;
    do {
      if (!condition(made)) {
        return "an invalid condition of a rule";
      }
    } while (take(at_, ","));
    if (!take(at_, ":") || !where(made.where)) {
      return "an invalid placement of a rule";
    }
    constexpr unsigned files = 1U << NODEWISE_AGENT_FILE;
    if (made.kinds == 0) {
      made.kinds = made.file != nullptr ? files : ~files;
    }
    ++into_.rule_count;
    return nullptr;
  }

  bool condition(rule& into) noexcept {
    if (take(at_, "kind=")) {
      const auto* const found = take_one_of(kind_names);
      into.kinds |= found != nullptr ? found->bit : 0;
      return found != nullptr;
    }
    if (take(at_, "least=")) {
      return take_number(at_, PTRDIFF_MAX, into.least_bytes);
    }
    if (take(at_, "most=")) {
      return take_number(at_, PTRDIFF_MAX, into.most_bytes);
    }
    if (take(at_, "symbol=")) {
      return take_name(at_, ",:;", into.symbol);
    }
    if (take(at_, "file=")) {
      return take_name(at_, ",:;", into.file);
    }
    if (take(at_, "nth=")) {
      into.counts = true;
      return interval(into.first_nth, into.last_nth, SIZE_MAX);
    }
    if (take(at_, "above=")) {
      return code(into_.above, into_.above_count, into.aboves);
    }
    return take(at_, "code=") && code(into_.code, into_.code_count, into.codes);
  }

  /// "FIRST-LAST", half-open and not empty.
  bool interval(std::size_t& first, std::size_t& last, std::size_t limit) noexcept {
    return take_number(at_, limit, first) && take(at_, "-") && take_number(at_, limit, last) &&
           first < last;
  }

  /// Reads one more range of code for a rule that has `own` ranges so far.
  bool code(code_range (&all)[NODEWISE_AGENT_MAX_CODE], std::size_t& count,
            std::size_t& own) noexcept {
    if (count == NODEWISE_AGENT_MAX_CODE) {
      return false;
    }
    code_range& made = all[count];
    if (!take_name(at_, "+,:;", made.module) || !take(at_, "+") ||
        !interval(made.first, made.last, PTRDIFF_MAX)) {
      return false;
    }
    ++count;
    ++own;
    return true;
  }

  /// A placement over all threads has them as owners. False if there are none.
  [[nodiscard]] bool give_owners(placement& where) const noexcept {
    if (!placements::traits_of(where.kind).has_blocks()) {
      return true;
    }
    where.owners = into_.owners;
    return where.owners.slots != 0;
  }

  const char* at_;
  settings& into_;
};

} // namespace

const char* parse(const char* text, settings& into) noexcept {
  // Clears everything except the lists, whose lengths are in the counts.
  const auto forget = [&] { std::memset(&into, 0, offsetof(settings, rules)); };
  forget();
  const char* const wrong = reader(text, into).read();
  if (wrong != nullptr) {
    forget();
  }
  return wrong;
}

bool watches_files(const settings& asked) noexcept {
  return asked.observe ||
         std::any_of(asked.rules, asked.rules + asked.rule_count, [](const rule& each) {
           return (each.kinds & (1U << NODEWISE_AGENT_FILE)) != 0;
         });
}

bool fits_pattern(const char* encoded, const char* ends, const char* name) noexcept {
  const auto is_over = [ends](const char* at) { return std::strchr(ends, *at) != nullptr; };
  // After a star that fits too little, the pattern goes on there with one more byte of the name.
  const char* star = nullptr;
  const char* after = nullptr;
  while (*name != '\0') {
    const char* at = encoded;
    if (!is_over(encoded) && *encoded == '*') {
      star = ++encoded;
      after = name;
    } else if (!is_over(encoded) && (*encoded == '?' || decoded(at) == *name)) {
      encoded = *encoded == '?' ? encoded + 1 : at;
      ++name;
    } else if (star != nullptr) {
      encoded = star;
      name = ++after;
    } else {
      return false;
    }
  }
  while (!is_over(encoded) && *encoded == '*') {
    ++encoded;
  }
  return is_over(encoded);
}

bool is_named(const char* encoded, const char* ends, const char* name) noexcept {
  while (*encoded != '\0' && std::strchr(ends, *encoded) == nullptr) {
    if (decoded(encoded) != *name++) {
      return false;
    }
  }
  return *name == '\0';
}

} // namespace nodewise::agent
