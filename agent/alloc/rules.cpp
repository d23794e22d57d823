// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/rules.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <span>

#include "agent/alloc/file_paths.hpp"
#include "agent/code_sieve.hpp"
#include "agent/modules.hpp"
#include "agent/own_stack.hpp"

namespace nodewise::agent {

namespace {

constexpr unsigned groups_alone = 1U << NODEWISE_AGENT_GROUP; // their blocks have any size

/// The pages of an object without a placement are counted by this one.
constinit placement by_owners{placement_kind::blocked, 0, {}};

constinit std::atomic<std::uint64_t> numbers[NODEWISE_AGENT_MAX_RULES] = {};

/// A place in code, from its return address. The byte before that is in the call, while the address
/// itself may already belong to the next line.
struct code_place {
  module_of module;
  std::size_t offset;

  explicit code_place(const char* back) noexcept
      : module(back - 1), offset(static_cast<std::size_t>(back - 1 - module.start)) {}

  [[nodiscard]] bool is_in(const code_range& range) const noexcept {
    return module.start != nullptr && offset >= range.first && offset < range.last &&
           is_named(range.module, "+", module.name);
  }
};

bool has_caller(const settings& asked, const rule& which, const void* caller) noexcept {
  if (which.codes == 0) {
    return true;
  }
  if (caller == nullptr) {
    return false;
  }
  const code_place place(static_cast<const char*>(caller));
  const code_range* const first = asked.code + which.first_code;
  return std::any_of(first, first + which.codes,
                     [&place](const code_range& each) { return place.is_in(each); });
}

/// Looks for the `above` ranges of several rules on one stack, in order for each rule.
class search_above {
 public:
  search_above(const settings& asked, const void* caller) noexcept : asked_(asked) {
    for (std::size_t i = 0; i < asked.rule_count; ++i) {
      const rule& each = asked.rules[i];
      if (each.aboves != 0 && has_caller(asked, each, caller)) {
        looking_[looking_count_++] = {static_cast<std::uint16_t>(i),
                                      static_cast<std::uint16_t>(each.first_above),
                                      static_cast<std::uint16_t>(each.first_above + each.aboves)};
      }
    }
  }

  [[nodiscard]] bool is_over() const noexcept { return looking_count_ == 0; }
  [[nodiscard]] const rule_set& found() const noexcept { return found_; }

  /// Checks a word of the stack. Whether it is a return address is checked last, because this reads
  /// the code.
  void meet(const char* word) noexcept {
    const code_place place(word);
    for (std::size_t i = 0; i < looking_count_;) {
      looking& each = looking_[i];
      if (place.is_in(asked_.above[each.next]) && sieve_.is_return(word)) {
        ++each.next;
      }
      if (each.next == each.last) {
        found_.insert(each.rule);
        each = looking_[--looking_count_];
      } else {
        ++i;
      }
    }
  }

 private:
  struct looking { // small, because the stack may be small
    std::uint16_t rule;
    std::uint16_t next; ///< of the settings' ranges
    std::uint16_t last;
  };

  const settings& asked_;
  std::size_t looking_count_ = 0;
  looking looking_[NODEWISE_AGENT_MAX_RULES];
  code_sieve sieve_;
  rule_set found_{};
};

/// Compares a symbol with its name in the source. Compilers append an underscore to Fortran names,
/// and a number to names that are static in a function, or (Clang) put the function before them.
bool is_symbol(const char* encoded, const char* symbol) noexcept {
  const auto is_name = [encoded](const char* name) { return is_named(encoded, ",:;", name); };
  if (is_name(symbol)) {
    return true;
  }
  char plain[NODEWISE_AGENT_NAME_BYTES];
  const std::size_t length = ::strnlen(symbol, sizeof plain - 1);
  std::memcpy(plain, symbol, length);
  plain[length] = '\0';
  if (length != 0 && plain[length - 1] == '_') {
    plain[length - 1] = '\0';
    if (is_name(plain)) {
      return true;
    }
    plain[length - 1] = '_';
  }
  char* const dot = std::strrchr(plain, '.');
  if (dot == nullptr || dot[1] == '\0') {
    return false;
  }
  if (std::strspn(dot + 1, "0123456789") != std::strlen(dot + 1)) {
    return is_name(dot + 1);
  }
  *dot = '\0';
  return is_name(plain);
}

/// A pattern with a slash is for the whole path.
bool is_file(const char* encoded, const object& what) noexcept {
  constexpr const char* ends = ",:;";
  const char* const slash = std::strchr(encoded, '/');
  const bool has_slash = slash != nullptr && slash < encoded + std::strcspn(encoded, ends);
  return what.kind == NODEWISE_AGENT_FILE && what.name != nullptr &&
         fits_pattern(encoded, ends, has_slash ? file_paths.path_of(what.name) : what.name);
}

bool fits(const settings& asked, const rule& which, const object& what) noexcept {
  return (which.kinds & (1U << what.kind)) != 0 && what.bytes >= which.least_bytes &&
         what.bytes <= which.most_bytes &&
         (what.bytes >= asked.threshold_bytes || which.least_bytes != 0) &&
         (which.symbol == nullptr ||
          (what.name != nullptr && is_symbol(which.symbol, what.name))) &&
         (which.file == nullptr || is_file(which.file, what)) &&
         has_caller(asked, which, what.caller);
}

/// Whether the rule at this position fits, including its `nth`. Gives the object a number of this
/// rule if it has none.
bool fits_by_number(const settings& asked, std::size_t position, object& what) noexcept {
  const rule& which = asked.rules[position];
  if ((which.aboves != 0 && !what.above.has(position)) || !fits(asked, which, what)) {
    return false;
  }
  if (which.counts && !what.numbered.has(position)) {
    what.numbered.insert(position);
    const std::uint64_t number = numbers[position].fetch_add(1, std::memory_order_relaxed);
    if (number >= which.first_nth && number < which.last_nth) {
      what.within.insert(position);
    }
  }
  return !which.counts || what.within.has(position);
}

} // namespace

std::size_t least_bytes(const settings& asked) noexcept {
  std::size_t least = asked.threshold_bytes;
  for (const rule& each : std::span(asked.rules, asked.rule_count)) {
    if (each.least_bytes != 0 && each.kinds != groups_alone) {
      least = std::min(least, each.least_bytes);
    }
  }
  return least;
}

bool names_small_parts(const settings& asked) noexcept {
  return asked.observe && (asked.trace || asked.announce);
}

bool names_group(const settings& asked, const void* caller) noexcept {
  return std::any_of(asked.rules, asked.rules + asked.rule_count, [&](const rule& each) {
    return each.kinds == groups_alone && each.codes != 0 && has_caller(asked, each, caller);
  });
}

NODEWISE_READS_STACK rule_set rules_above(const settings& asked, const void* caller) noexcept {
  constexpr std::size_t most_bytes = std::size_t{16} << 10;
  if (asked.above_count == 0) {
    return {};
  }
  search_above search(asked, caller);
  for (const std::uintptr_t word :
       words_behind(own_stack(__builtin_frame_address(0), most_bytes), caller)) {
    if (search.is_over()) {
      break;
    }
    if (word > most_bytes) { // small numbers are not addresses
      search.meet(address_in(word));
    }
  }
  return search.found();
}

void number_afresh() noexcept {
  for (auto& each : numbers) {
    each.store(0, std::memory_order_relaxed);
  }
}

bool choose(const settings& asked, object& what) noexcept {
  what.rule = -1;
  static constexpr placement left_alone{placement_kind::none, 0, {}};
  what.where = what.kind == NODEWISE_AGENT_FILE ? &left_alone : &asked.standard;
  for (std::size_t i = 0; i < asked.rule_count; ++i) {
    // A rule with `nth` also numbers objects that an earlier rule has decided about.
    const bool open = what.rule < 0;
    if ((open || asked.rules[i].counts) && fits_by_number(asked, i, what) && open) {
      what.rule = static_cast<int>(i);
      what.where = &asked.rules[i].where;
    }
  }
  const bool small = what.bytes < asked.threshold_bytes;
  const bool is_named = names_small_parts(asked) &&
                        (what.kind == NODEWISE_AGENT_STATIC || what.kind == NODEWISE_AGENT_GROUP ||
                         (what.kind == NODEWISE_AGENT_HEAP && asked.trace));
  if (what.rule < 0 && small && !is_named) {
    return false;
  }
  if (asked.observe || what.where->kind == placement_kind::none) {
    by_owners.owners = asked.owners;
    what.where = asked.owners.slots == 0 ? nullptr : &by_owners;
    what.flags |= NODEWISE_AGENT_UNASKED;
  }
  return true;
}

} // namespace nodewise::agent
