// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/privileges.hpp"

#include <array>
#include <charconv>
#include <string>

#include "doctor/settings.hpp"
#include "doctor/text.hpp"

namespace nodewise::doctor {

namespace {

template <class Number>
std::optional<Number> number_in(const std::optional<std::string_view>& text, int base) {
  Number value = 0;
  if (!text || text->empty()) {
    return std::nullopt;
  }
  const auto [stop, code] = std::from_chars(text->data(), text->data() + text->size(), value, base);
  return code == std::errc{} && stop == text->data() + text->size() ? std::optional(value)
                                                                    : std::nullopt;
}

/// The first user namespace maps every number to itself: "0 0 4294967295" and nothing else.
std::optional<bool> read_user_namespace(sys::kernel& from) {
  const auto map = from.read_file("/proc/self/uid_map");
  if (!map) {
    return std::nullopt;
  }
  std::array<unsigned long, 3> numbers{};
  std::string_view rest = map.value;
  for (unsigned long& number : numbers) {
    rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size()));
    const auto [stop, code] = std::from_chars(rest.data(), rest.data() + rest.size(), number);
    if (code != std::errc{}) {
      return std::nullopt;
    }
    rest.remove_prefix(static_cast<std::size_t>(stop - rest.data()));
  }
  constexpr unsigned long all_users = 4294967295;
  return numbers != std::array<unsigned long, 3>{0, 0, all_users} || !rest.empty();
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
    return fine(name, "1: next to no call is permitted");
  }
}

struct capability_words {
  capability what;
  const char* name;
  const char* gives;
};
constexpr std::array words = {
    capability_words{capability::sys_nice, "CAP_SYS_NICE",
                     "pages that other processes map, too, can be moved"},
    capability_words{capability::perfmon, "CAP_PERFMON",
                     "counters at any perf_event_paranoid, of the kernel and other users, too"},
    capability_words{capability::sys_admin, "CAP_SYS_ADMIN",
                     "frame numbers in /proc/PID/pagemap, and what CAP_PERFMON gives"},
    capability_words{capability::sys_ptrace, "CAP_SYS_PTRACE",
                     "pages of other users' processes can be seen and moved"},
};

finding capability_of(const privileges& found, const capability_words& of) {
  if (!found.effective) {
    return unreadable(of.name);
  }
  const bool there = (*found.effective >> static_cast<unsigned>(of.what) & 1) != 0;
  if (there && found.in_user_namespace.value_or(false)) {
    return fine(of.name, "inside its user namespace only, which is as without here");
  }
  // A filter may still refuse the calls.
  const char* const filtered =
      found.seccomp.value_or(0) != 0 ? ", where the seccomp filter lets the calls pass" : "";
  return fine(of.name, there ? "has it: " + std::string(of.gives) + filtered
                             : "without; would give: " + std::string(of.gives));
}

/// What Linux forbids at a level, in addition to what the lower levels forbid.
std::string forbidden_at(long long level) {
  if (level < 0) {
    return "nothing is forbidden";
  }
  if (level == 0) {
    return "raw tracepoints need CAP_PERFMON";
  }
  if (level == 1) {
    return "counters of whole processors need CAP_PERFMON";
  }
  return "the kernel's own share and whole processors need CAP_PERFMON";
}

finding paranoid(const privileges& found, std::optional<int> perf_errno) {
  const std::string name = "perf_event_paranoid";
  if (!found.perf_event_paranoid) {
    return unreadable(name);
  }
  const long long level = *found.perf_event_paranoid;
  const std::string number = std::to_string(level);
  if (found.free_counters().value_or(false)) {
    return fine(name, number + ": does not bind this process, by its capabilities");
  }
  if (level <= 2) {
    return fine(name, number + ": " + forbidden_at(level));
  }
  // Linux itself has no level above 2; the kernels of Debian and Ubuntu do.
  if (perf_errno == 0) {
    return fine(name, number + ": as 2 with this kernel: " + forbidden_at(2));
  }
  return doubtful(name,
                  number + ": as kernels of Debian and Ubuntu read it, every counter needs "
                           "CAP_PERFMON",
                  "sysctl kernel.perf_event_paranoid=2 as root");
}

} // namespace

std::optional<bool> privileges::has(capability what) const {
  if (!effective) {
    return std::nullopt;
  }
  const bool there = (*effective >> static_cast<unsigned>(what) & 1) != 0;
  if (!there) {
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
  found.seccomp = number_in<int>(field(status.value, "Seccomp"), 10);
  if (found.seccomp && (*found.seccomp < 0 || *found.seccomp > 2)) {
    found.seccomp.reset();
  }
  found.effective = number_in<std::uint64_t>(field(status.value, "CapEff"), 16);
  found.in_user_namespace = read_user_namespace(from);
  found.perf_event_paranoid = read_number(from, "/proc/sys/kernel/perf_event_paranoid");
  return found;
}

std::vector<finding> examine_privileges(const privileges& found, std::optional<int> perf_errno) {
  std::vector<finding> all = {seccomp_of(found)};
  for (const capability_words& each : words) {
    all.push_back(capability_of(found, each));
  }
  all.push_back(paranoid(found, perf_errno));
  return all;
}

} // namespace nodewise::doctor
