// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/privileges.hpp"

#include <algorithm>
#include <array>
#include <string>

#include <fmt/core.h>

#include "base/parse_number.hpp"
#include "doctor/settings.hpp"
#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

/// The first user namespace maps every number to itself: "0 0 4294967295" and nothing else.
std::optional<bool> read_user_namespace(sys::kernel& from) {
  const auto map = from.read_file("/proc/self/uid_map");
  if (!map) {
    return std::nullopt;
  }
  bool first = true;
  std::string_view rest = map.value;
  for (const unsigned long of_first : {0UL, 0UL, 4294967295UL}) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const auto number = take_number<unsigned long>(rest);
    if (!number) {
      return std::nullopt;
    }
    first = first && *number == of_first;
  }
  return !first || !rest.empty();
}

finding seccomp_of(const privileges& found) {
  const std::string name = "seccomp";
  if (!found.seccomp) {
    return unreadable(name);
  }
  switch (*found.seccomp) {
  case 0:
    return fine(name, "0: no filter");
  case 2:
    return fine(name, "2: a filter decides which calls are permitted, as in containers");
  default:
    return fine(name, "1: almost no call is permitted");
  }
}

struct capability_text {
  capability what;
  const char* name;
  const char* permits;
};
constexpr std::array<capability_text, 4> capability_texts = {{
    {capability::sys_nice, "CAP_SYS_NICE", "moving pages that other processes map, too"},
    {capability::perfmon, "CAP_PERFMON",
     "counters at any perf_event_paranoid, also of the kernel and of other users"},
    {capability::sys_admin, "CAP_SYS_ADMIN",
     "reading frame numbers in /proc/PID/pagemap, and what CAP_PERFMON permits"},
    {capability::sys_ptrace, "CAP_SYS_PTRACE", "seeing and moving pages of other users' processes"},
}};

bool includes(std::uint64_t capabilities, capability what) {
  return (capabilities >> static_cast<unsigned>(what) & 1) != 0;
}

finding capability_of(const privileges& found, const capability_text& of) {
  if (!found.effective) {
    return unreadable(of.name);
  }
  if (!includes(*found.effective, of.what)) {
    return fine(of.name, fmt::format("absent; would permit {}", of.permits));
  }
  if (found.in_user_namespace.value_or(false)) {
    return fine(of.name, "inside its user namespace only: no effect here");
  }
  // A filter may still refuse the calls.
  return fine(
      of.name,
      fmt::format("present: permits {}{}", of.permits,
                  found.seccomp.value_or(0) != 0 ? ", unless the seccomp filter refuses" : ""));
}

/// What Linux forbids at a level, in addition to what the lower levels forbid.
const char* forbidden_at(long long level) {
  if (level < 0) {
    return "nothing is forbidden";
  }
  if (level < 2) {
    return level == 0 ? "raw tracepoints need CAP_PERFMON"
                      : "counters of whole processors need CAP_PERFMON";
  }
  return "counters of the kernel and of whole processors need CAP_PERFMON";
}

finding paranoid(const privileges& found, std::optional<int> perf_errno) {
  const std::string name = "perf_event_paranoid";
  if (!found.perf_event_paranoid) {
    return unreadable(name);
  }
  const long long level = *found.perf_event_paranoid;
  if (found.free_counters().value_or(false)) {
    return fine(name, fmt::format("{}: does not apply to this process, because of its capabilities",
                                  level));
  }
  if (level <= 2) {
    return fine(name, fmt::format("{}: {}", level, forbidden_at(level)));
  }
  // Linux itself has no level above 2; the kernels of Debian and Ubuntu do.
  if (perf_errno == 0) {
    return fine(name, fmt::format("{}: same as 2 with this kernel: {}", level, forbidden_at(2)));
  }
  return doubtful(
      name,
      fmt::format("{}: with kernels of Debian and Ubuntu, every counter needs CAP_PERFMON", level),
      "sysctl kernel.perf_event_paranoid=2 as root");
}

} // namespace

std::optional<bool> privileges::has(capability what) const {
  if (!effective) {
    return std::nullopt;
  }
  if (!includes(*effective, what)) {
    return false;
  }
  return in_user_namespace ? std::optional(!*in_user_namespace) : std::nullopt;
}

std::optional<bool> privileges::free_counters() const {
  const auto perfmon = has(capability::perfmon);
  const auto admin = has(capability::sys_admin);
  if (perfmon.value_or(false) || admin.value_or(false)) {
    return true;
  }
  return perfmon && admin ? std::optional(false) : std::nullopt;
}

privileges read_privileges(sys::kernel& from) {
  privileges found;
  const auto status = from.read_file("/proc/self/status");
  found.seccomp = parse_number<int>(field(status.value, "Seccomp").value_or(""));
  if (found.seccomp && (*found.seccomp < 0 || *found.seccomp > 2)) {
    found.seccomp.reset();
  }
  found.effective = parse_number<std::uint64_t>(field(status.value, "CapEff").value_or(""), 16);
  found.in_user_namespace = read_user_namespace(from);
  found.perf_event_paranoid = read_number(from, "/proc/sys/kernel/perf_event_paranoid");
  return found;
}

std::vector<finding> examine_privileges(const privileges& found, std::optional<int> perf_errno) {
  std::vector<finding> all = {seccomp_of(found)};
  for (const capability_text& each : capability_texts) {
    all.push_back(capability_of(found, each));
  }
  all.push_back(paranoid(found, perf_errno));
  return all;
}

} // namespace nodewise::doctor
