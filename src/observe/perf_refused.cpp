// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/perf_refused.hpp"

#include <cerrno>
#include <string>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/parse_number.hpp"
#include "sys/kernel.hpp"

namespace nodewise::observe {

namespace {

/// Debian's kernels have a level 3, Ubuntu's 4: then users without CAP_PERFMON get no events at
/// all.
constexpr int most_permissive_needed = 2;

std::string hint_for_permission() {
  const auto text = sys::real_kernel().read_file("/proc/sys/kernel/perf_event_paranoid");
  if (const auto level = parse_number<int>(text.value); level && *level > most_permissive_needed) {
    return fmt::format("kernel.perf_event_paranoid is {}: sysctl kernel.perf_event_paranoid=2 as "
                       "root, or run with CAP_PERFMON",
                       *level);
  }
  return "run as the user that the process belongs to; in a container, run it with CAP_PERFMON "
         "(--cap-add PERFMON) or a seccomp profile that permits perf_event_open";
}

std::string hint_for(int errno_value) {
  switch (errno_value) {
  case EACCES:
  case EPERM:
    return hint_for_permission();
  case EMFILE:
    return "raise the limit of open files (ulimit -Hn): each existing thread needs several for "
           "each processor";
  case ENFILE:
    return "raise the system's limit of open files: sysctl fs.file-max";
  case ENOSYS:
    return "use a kernel with perf events (CONFIG_PERF_EVENTS), or in a container a seccomp "
           "profile that permits perf_event_open";
  default:
    return "see what `nodewise doctor` reports about perf_event_open";
  }
}

} // namespace

void throw_events_refused(int tid, std::size_t events, int errno_value) {
  throw error(error_kind::system,
              tid == 0 ? "cannot sample page faults"
                       : fmt::format("cannot sample the page faults of thread {}", tid),
              fmt::format("perf_event_open was refused after {} events", events),
              hint_for(errno_value), errno_value);
}

void throw_rings_refused(std::size_t rings, std::size_t bytes, int errno_value) {
  throw error(error_kind::system,
              fmt::format("cannot map {} rings of {} KiB each for samples", rings, bytes >> 10),
              "mmap of a perf event was refused",
              "end other profilers of this user, or raise sysctl kernel.perf_event_mlock_kb or the "
              "limit of locked memory (ulimit -l)",
              errno_value);
}

} // namespace nodewise::observe
