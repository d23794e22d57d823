// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/affinity.hpp>

#include <string>
#include <utility>

#include <nodewise/error.hpp>

#include "sys/kernel.hpp"

namespace nodewise::inline v0 {

namespace {

constexpr int this_thread = 0;

} // namespace

cpu_set thread_affinity() {
  auto cpus = sys::real_kernel().get_affinity(this_thread);
  if (!cpus) {
    throw error(error_kind::system, "the processors that this thread may run on",
                "sched_getaffinity", "check what `nodewise doctor` says of it", cpus.errno_value);
  }
  return std::move(cpus.value);
}

void set_thread_affinity(const cpu_set& cpus) {
  const int refused = try_set_thread_affinity(cpus);
  if (refused != 0) {
    throw error(error_kind::system, "to bind a thread to processors " + cpus.to_string(),
                "sched_setaffinity",
                "name processors that are online and in this process's cgroup: `nodewise topo`",
                refused);
  }
}

int try_set_thread_affinity(const cpu_set& cpus) noexcept {
  return sys::real_kernel().set_affinity(this_thread, cpus);
}

cpu_id current_cpu() {
  const auto cpu = sys::real_kernel().current_cpu();
  if (!cpu) {
    throw error(error_kind::system, "the processor that this thread is on", "getcpu",
                "check what `nodewise doctor` says of it", cpu.errno_value);
  }
  return cpu.value;
}

} // namespace nodewise::inline v0
