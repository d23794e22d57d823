// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/settings.hpp"

#include <cstdint>
#include <cstring>

namespace nodewise::agent {

namespace {

/// Moves `at` past `expected` if that stands there.
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

/// "0*4,1*4", "0"
bool take_owners(const char*& at, settings& into) noexcept {
  constexpr std::size_t max_slots = std::size_t{1} << 24;
  do {
    std::size_t node = 0;
    std::size_t count = 1;
    if (!take_number(at, NODEWISE_AGENT_MAX_NODES - 1, node) ||
        (take(at, "*") && !take_number(at, max_slots, count)) || count == 0 ||
        into.slots + count > max_slots) {
      return false;
    }
    const int number = static_cast<int>(node);
    if (into.runs == 0 || into.run[into.runs - 1].node != number) {
      if (into.runs == NODEWISE_AGENT_MAX_RUNS) {
        return false;
      }
      into.run[into.runs++] = {into.slots, number};
    }
    into.slots += count;
  } while (take(at, ","));
  return true;
}

} // namespace

const char* parse(const char* text, settings& into) noexcept {
  const char* at = text;
  into.threshold_bytes = 0;
  into.slots = 0;
  into.runs = 0;
  into.observe = false;
  into.quiet = false;
  into.report = nullptr;
  if (!take(at, NODEWISE_AGENT_SETTINGS) || (*at != ';' && *at != '\0')) {
    return "settings of another version";
  }
  while (take(at, ";")) {
    if (take(at, "threshold=")) {
      if (!take_number(at, PTRDIFF_MAX, into.threshold_bytes) || into.threshold_bytes == 0) {
        return "a threshold that is no size";
      }
    } else if (take(at, "blocked=")) {
      into.slots = into.runs = 0;
      if (!take_owners(at, into)) {
        return "a list of owners that makes no sense";
      }
    } else if (take(at, "observe")) {
      into.observe = true;
    } else if (take(at, "quiet")) {
      into.quiet = true;
    } else if (take(at, "report=")) {
      into.report = at;
      at += std::strlen(at);
    } else {
      return "a setting that it does not know";
    }
  }
  if (*at != '\0') {
    return "settings that are not separated by semicolons";
  }
  if (!into.observe && into.slots == 0) {
    return "neither owners nor that it should only observe";
  }
  return into.threshold_bytes == 0 ? "no threshold" : nullptr;
}

} // namespace nodewise::agent
