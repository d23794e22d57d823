// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/settings.hpp"

#include "base/numbers.hpp"

namespace nodewise::doctor {

namespace {

/// "always [madvise] never": the word in brackets.
std::optional<std::string> chosen_word(const std::string& text) {
  const std::size_t open = text.find('[');
  const std::size_t close = text.find(']', open);
  return close == std::string::npos ? std::nullopt
                                    : std::optional(text.substr(open + 1, close - open - 1));
}

/// x86 has a processor flag for virtual machines. Other architectures have only the firmware's
/// tables, which do not distinguish vendors of real machines from those of virtual ones.
std::optional<std::string> read_virtualisation(sys::kernel& from) {
  const std::string processors = from.read_file("/proc/cpuinfo").value;
  if (processors.find("\nflags") == std::string::npos) {
    return std::nullopt;
  }
  if (processors.find(" hypervisor") == std::string::npos) {
    return "none";
  }
  const std::string vendor = from.read_file("/sys/class/dmi/id/sys_vendor").value;
  return vendor.empty() ? "unnamed hypervisor" : vendor;
}

// Privileges.

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
  constexpr std::array texts = {"0: no filter", "1: almost no call is permitted",
                                "2: a filter decides which calls are permitted, as in containers"};
  return found.seccomp ? fine("seccomp", texts.at(static_cast<std::size_t>(*found.seccomp)))
                       : unreadable("seccomp");
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
  constexpr std::array texts = {"nothing is forbidden", "raw tracepoints need CAP_PERFMON",
                                "counters of whole processors need CAP_PERFMON",
                                "counters of the kernel and of whole processors need CAP_PERFMON"};
  return texts.at(static_cast<std::size_t>(std::clamp(level, -1LL, 2LL) + 1));
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

std::optional<long long> read_number(sys::kernel& from, const std::string& path, long long least,
                                     long long most) {
  const auto value = parse_number<long long>(from.read_file(path.c_str()).value);
  return value && *value >= least && *value <= most ? value : std::nullopt;
}

settings read_settings(sys::kernel& from) {
  settings found;
  if (auto release = from.read_file("/proc/sys/kernel/osrelease")) {
    found.kernel_release = std::move(release.value);
  }
  const std::size_t page_bytes = from.base_page_bytes();
  found.page_bytes = page_bytes != 0 ? std::optional(page_bytes) : std::nullopt;
  found.numa_balancing = read_number(from, "/proc/sys/kernel/numa_balancing", 0, 3);
  found.thp = chosen_word(from.read_file("/sys/kernel/mm/transparent_hugepage/enabled").value);
  found.thp_defrag =
      chosen_word(from.read_file("/sys/kernel/mm/transparent_hugepage/defrag").value);
  found.swap_bytes = sys::read_meminfo(from, "SwapTotal");
  found.virtualisation = read_virtualisation(from);
  return found;
}

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
