// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <climits>

#include "doctor/finding.hpp"

namespace nodewise::doctor {

/// Settings outside the program that affect results; part of every result. nullopt: could not be
/// read.
struct settings {
  std::optional<std::string> kernel_release; ///< "6.1.0-18-amd64"
  std::optional<std::size_t> page_bytes;     ///< base page
  std::optional<long long> numa_balancing;   ///< 0 off, 1 on, 2 memory tiering, 3 both
  std::optional<std::string> thp;            ///< transparent huge pages: "always"
  std::optional<std::string> thp_defrag;     ///< "madvise"
  std::optional<std::uint64_t> swap_bytes;   ///< the total, used or not
  /// "none", or the maker of the virtual machine as its firmware names it.
  std::optional<std::string> virtualisation;

  /// Whether the kernel unmaps pages to sample their users, and migrates the pages to them.
  [[nodiscard]] bool balances() const noexcept {
    return numa_balancing && (*numa_balancing & 1) != 0;
  }
};

[[nodiscard]] settings read_settings(sys::kernel& from);

/// The whole number that is a file's only content; nullopt if there is no such file, if its content
/// is something else, and for a number outside least..most: impossible values are not reported.
[[nodiscard]] std::optional<long long> read_number(sys::kernel& from, const std::string& path,
                                                   long long least = LLONG_MIN,
                                                   long long most = LLONG_MAX);

/// The capabilities of linux/capability.h on which anything here depends.
enum class capability : unsigned { sys_ptrace = 19, sys_admin = 21, sys_nice = 23, perfmon = 38 };

/// The extra permissions of this process, and its restrictions. nullopt: could not be read.
struct privileges {
  std::optional<int> seccomp;             ///< 0 none, 1 strict, 2 a filter decides on each call
  std::optional<std::uint64_t> effective; ///< capabilities, a bit each
  /// In any user namespace but the first, capabilities hold only inside it.
  std::optional<bool> in_user_namespace;
  std::optional<long long> perf_event_paranoid;

  /// Whether it has a capability that also holds outside its user namespace; nullopt: unknown.
  [[nodiscard]] std::optional<bool> has(capability what) const;
  /// Whether CAP_PERFMON, or as in older kernels CAP_SYS_ADMIN, exempts it from
  /// `perf_event_paranoid`.
  [[nodiscard]] std::optional<bool> free_counters() const;
};

[[nodiscard]] privileges read_privileges(sys::kernel& from);

/// The seccomp filter, each capability with what it permits, and what `perf_event_paranoid`
/// forbids. `perf_errno`: the result of perf_event_open, if it was tried.
[[nodiscard]] std::vector<finding> examine_privileges(const privileges& found,
                                                      std::optional<int> perf_errno);

} // namespace nodewise::doctor
