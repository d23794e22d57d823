// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/rules.hpp"

#include <cstring>

#include "agent/modules.hpp"

namespace nodewise::agent {

namespace {

/// What the pages of an object are counted by that nobody placed.
constinit placement by_owners{placement_kind::blocked, 0, {}};

bool has_caller(const settings& asked, const rule& which, const object& what) noexcept {
  if (which.codes == 0) {
    return true;
  }
  if (what.caller == nullptr) {
    return false;
  }
  // A return address is behind the call, perhaps on the next line already.
  const char* const call = static_cast<const char*>(what.caller) - 1;
  const module_of module(call);
  const auto offset = static_cast<std::size_t>(call - module.start);
  for (std::size_t i = which.first_code; i < which.first_code + which.codes; ++i) {
    const code_range& range = asked.code[i];
    if (module.start != nullptr && offset >= range.first && offset < range.last &&
        is_named(range.module, "+", module.name)) {
      return true;
    }
  }
  return false;
}

/// A symbol as people write it in the source: compilers put an underscore behind Fortran's names,
/// and a number behind those that are static in a function, or (Clang) the function in front of
/// them.
bool is_symbol(const char* encoded, const char* symbol) noexcept {
  constexpr char ends[] = ",:;";
  if (is_named(encoded, ends, symbol)) {
    return true;
  }
  char plain[NODEWISE_AGENT_NAME_BYTES];
  const std::size_t length = ::strnlen(symbol, sizeof plain - 1);
  std::memcpy(plain, symbol, length);
  plain[length] = '\0';
  if (length != 0 && plain[length - 1] == '_') {
    plain[length - 1] = '\0';
    if (is_named(encoded, ends, plain)) {
      return true;
    }
    plain[length - 1] = '_';
  }
  char* const dot = std::strrchr(plain, '.');
  if (dot == nullptr || dot[1] == '\0') {
    return false;
  }
  if (std::strspn(dot + 1, "0123456789") != std::strlen(dot + 1)) {
    return is_named(encoded, ends, dot + 1);
  }
  *dot = '\0';
  return is_named(encoded, ends, plain);
}

bool fits(const settings& asked, const rule& which, const object& what) noexcept {
  return (which.kinds & (1U << what.kind)) != 0 && what.bytes >= which.least_bytes &&
         what.bytes <= which.most_bytes &&
         (what.bytes >= asked.threshold_bytes || which.least_bytes != 0) &&
         (which.symbol == nullptr ||
          (what.name != nullptr && is_symbol(which.symbol, what.name))) &&
         has_caller(asked, which, what);
}

} // namespace

std::size_t least_bytes(const settings& asked) noexcept {
  std::size_t least = asked.threshold_bytes;
  for (std::size_t i = 0; i < asked.rule_count; ++i) {
    const std::size_t size = asked.rules[i].least_bytes;
    least = size != 0 && size < least ? size : least;
  }
  return least;
}

bool choose(const settings& asked, object& what) noexcept {
  what.rule = -1;
  what.where = &asked.standard;
  for (std::size_t i = 0; i < asked.rule_count; ++i) {
    if (fits(asked, asked.rules[i], what)) {
      what.rule = static_cast<int>(i);
      what.where = &asked.rules[i].where;
      break;
    }
  }
  if (what.rule < 0 && what.bytes < asked.threshold_bytes) {
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
