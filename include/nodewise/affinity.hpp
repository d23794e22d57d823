// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads and sets the processors that the calling thread may run on.
//
//     const nodewise::affinity_guard before; // restores the processors at the end of the scope
//     nodewise::set_thread_affinity({nodewise::current_cpu()});
//     std::printf("bound to processor %s\n", nodewise::thread_affinity().to_string().c_str());
#pragma once

#include <nodewise/id_set.hpp>

namespace nodewise::inline v0 {

/// Returns the processors that the calling thread may run on. Throws `error` (system) if the kernel
/// refuses.
[[nodiscard]] NODEWISE_API cpu_set thread_affinity();
/// Binds the calling thread to processors. The kernel leaves out those that its cgroup does not
/// allow. Throws `error` (system) that names the processors, if none is left.
NODEWISE_API void set_thread_affinity(const cpu_set& cpus);
/// The same without exceptions: returns 0 or errno.
[[nodiscard]] NODEWISE_API int try_set_thread_affinity(const cpu_set& cpus) noexcept;
/// Returns the processor that the calling thread runs on now; the thread may move at any time.
/// Throws `error` (system) if the kernel refuses.
[[nodiscard]] NODEWISE_API cpu_id current_cpu();

/// Records the processors that the calling thread may run on, and restores them when it is
/// destroyed. The thread that made it must destroy it.
class affinity_guard {
 public:
  /// Records the processors. Throws `error` (system) if the kernel refuses.
  affinity_guard() : before_(thread_affinity()) {}
  affinity_guard(const affinity_guard&) = delete;
  affinity_guard& operator=(const affinity_guard&) = delete;
  // Fails only if the cgroup has lost all of these processors meanwhile.
  ~affinity_guard() { (void)try_set_thread_affinity(before_); }

 private:
  cpu_set before_;
};

} // namespace nodewise::inline v0
