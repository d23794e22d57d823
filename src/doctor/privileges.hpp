// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "doctor/finding.hpp"
#include "sys/kernel.hpp"

namespace nodewise::doctor {

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
