// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "doctor/finding.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

/// Of linux/capability.h: those on which anything here depends.
enum class capability : unsigned { sys_ptrace = 19, sys_admin = 21, sys_nice = 23, perfmon = 38 };

/// What this process may do beyond an ordinary one, and what is taken from it. nullopt: could not
/// be read.
struct privileges {
  std::optional<int> seccomp;             ///< 0 none, 1 strict, 2 a filter decides of each call
  std::optional<std::uint64_t> effective; ///< capabilities, a bit each
  /// Capabilities of another user namespace than the first hold inside it only.
  std::optional<bool> in_user_namespace;
  std::optional<long long> perf_event_paranoid;

  /// Whether it has a capability that counts outside of its user namespace; nullopt: not known.
  [[nodiscard]] std::optional<bool> has(capability what) const;
  /// Whether `perf_event_paranoid` binds it: CAP_PERFMON, and CAP_SYS_ADMIN as of old, free of it.
  [[nodiscard]] std::optional<bool> free_counters() const;
};

[[nodiscard]] privileges read_privileges(sys::kernel& from);

/// The seccomp filter, each capability with what it gives, and what `perf_event_paranoid` forbids.
/// `perf_errno`: what perf_event_open answered, if it was tried.
[[nodiscard]] std::vector<finding> examine_privileges(const privileges& found,
                                                      std::optional<int> perf_errno);

} // namespace nodewise::doctor
