// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The processors that the calling thread may run on.
#pragma once

#include <nodewise/export.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise::inline v0 {

/// The processors that the calling thread may run on. Throws `error` (system).
[[nodiscard]] NODEWISE_API cpu_set thread_affinity();
/// Binds the calling thread. The kernel takes away what its cgroup does not allow. Throws `error`
/// (system), naming the processors, if nothing is left.
NODEWISE_API void set_thread_affinity(const cpu_set& cpus);
/// The same for where nobody can be told: returns 0 or errno.
[[nodiscard]] NODEWISE_API int try_set_thread_affinity(const cpu_set& cpus) noexcept;
/// The processor that the calling thread is on just now; it may be elsewhere a moment later.
/// Throws `error` (system).
[[nodiscard]] NODEWISE_API cpu_id current_cpu();

/// Gives the calling thread back, at its end, the processors that it may run on now. To be
/// destroyed by the thread that made it.
class affinity_guard {
 public:
  /// Throws `error` (system).
  affinity_guard() : before_(thread_affinity()) {}
  affinity_guard(const affinity_guard&) = delete;
  affinity_guard& operator=(const affinity_guard&) = delete;
  // A mask that held before holds again, unless the cgroup lost all of it meanwhile.
  ~affinity_guard() { (void)try_set_thread_affinity(before_); }

 private:
  cpu_set before_;
};

} // namespace nodewise::inline v0
