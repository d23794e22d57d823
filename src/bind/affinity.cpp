// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/affinity.hpp>

#include <utility>

#include <nodewise/error.hpp>

#include "sys/kernel.hpp"

namespace nodewise::inline v0 {

// For the kernel, thread 0 is the calling thread.

cpu_set thread_affinity() {
  auto cpus = sys::real_kernel().get_affinity(0);
  if (!cpus) {
    throw error(error_kind::system, "cannot read the affinity of this thread", "sched_getaffinity",
                "see what `nodewise doctor` reports about it", cpus.errno_value);
  }
  return std::move(cpus.value);
}

void set_thread_affinity(const cpu_set& cpus) {
  const int refused = try_set_thread_affinity(cpus);
  if (refused != 0) {
    throw error(error_kind::system, "cannot bind a thread to processors " + cpus.to_string(),
                "sched_setaffinity",
                "use processors that are online and in this process's cgroup; `nodewise topo` "
                "shows them",
                refused);
  }
}

int try_set_thread_affinity(const cpu_set& cpus) noexcept {
  return sys::real_kernel().set_affinity(0, cpus);
}

cpu_id current_cpu() {
  const auto cpu = sys::real_kernel().current_cpu();
  if (!cpu) {
    throw error(error_kind::system, "cannot read the processor of this thread", "getcpu",
                "see what `nodewise doctor` reports about it", cpu.errno_value);
  }
  return cpu.value;
}

} // namespace nodewise::inline v0
