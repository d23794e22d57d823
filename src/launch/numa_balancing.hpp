// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernel's automatic NUMA balancing (kernel.numa_balancing), switched while a program runs.
//
// The setting belongs to the whole system, so it must be restored whatever happens. Before the
// change, the old value is saved in DIRECTORY/numa_balancing with the process that changes it. If
// that process is killed, the next start of Nodewise finds the file and restores the value.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "base/environment.hpp"
#include "sys/kernel.hpp"

namespace nodewise::launch {

/// Where the old value is saved: NODEWISE_STATE_DIR, or /run/nodewise, which only root can write.
[[nodiscard]] std::string state_directory(environment get = nullptr);

/// "kernel.numa_balancing=1": the argument of sysctl for --numa-balancing on.
[[nodiscard]] std::string numa_balancing_sysctl(bool on);

/// The value that `on` or off means if the setting is `now`: bit 0 is balancing between nodes, bit
/// 1 memory tiering, which `on` keeps.
[[nodiscard]] constexpr int numa_balancing_value(bool on, int now) noexcept {
  return on ? now | 1 : 0;
}

/// The setting is on or off while this exists.
class numa_balancing_switch {
 public:
  /// Throws `error` (system) if the setting cannot be read or changed, or the old value cannot be
  /// saved, or while another nodewise has changed the setting. Needs no permission if the setting
  /// has the value already.
  numa_balancing_switch(bool on, sys::kernel& kernel, std::string directory = state_directory());
  numa_balancing_switch(const numa_balancing_switch&) = delete;
  numa_balancing_switch& operator=(const numa_balancing_switch&) = delete;
  ~numa_balancing_switch();

  /// Restores the old value. Returns a warning if it cannot, or if the value was changed meanwhile,
  /// which it leaves.
  std::optional<std::string> restore();

 private:
  sys::kernel& kernel_;
  std::string directory_;
  int before_ = 0;
  int set_ = 0;
  bool active_ = false;
};

/// Restores the value if a nodewise was killed before it could. Returns a warning that reports it,
/// or that it is not possible; nullopt if there is nothing to restore, also for users who may not
/// read the file.
std::optional<std::string> restore_numa_balancing(sys::kernel& kernel,
                                                  const std::string& directory = state_directory());

/// The setting's value. Throws `error` as the switch does, with `asked`, if it cannot be changed:
/// finds out by writing the same value.
[[nodiscard]] int changeable_numa_balancing(const std::string& asked, sys::kernel& kernel,
                                            const std::string& directory = state_directory());

} // namespace nodewise::launch
