// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/perf_refused.hpp"

#include <cerrno>
#include <charconv>
#include <string>

#include <nodewise/error.hpp>

#include "sys/kernel.hpp"

namespace nodewise::observe {

namespace {

/// Debian's kernels have a level 3, Ubuntu's 4: then users without CAP_PERFMON get no events at
/// all.
constexpr int most_permissive_needed = 2;

std::string cure_of_permission() {
  const auto text = sys::real_kernel().read_file("/proc/sys/kernel/perf_event_paranoid");
  int level = 0;
  const char* const begin = text.value.c_str();
  if (text && std::from_chars(begin, begin + text.value.size(), level).ec == std::errc{} &&
      level > most_permissive_needed) {
    return "kernel.perf_event_paranoid is " + std::to_string(level) +
           ": sysctl kernel.perf_event_paranoid=2 as root, or run with CAP_PERFMON";
  }
  return "be the user that the process belongs to; in a container, run it with CAP_PERFMON "
         "(--cap-add PERFMON) or a seccomp profile that permits perf_event_open";
}

std::string hint_for(int errno_value) {
  switch (errno_value) {
  case EACCES:
  case EPERM:
    return cure_of_permission();
  case EMFILE:
    return "raise the limit of open files (ulimit -Hn): each thread that is there already needs "
           "some for each processor";
  case ENFILE:
    return "raise the system's limit of open files: sysctl fs.file-max";
  case ENOSYS:
    return "use a kernel with perf events (CONFIG_PERF_EVENTS), or in a container a seccomp "
           "profile that permits perf_event_open";
  default:
    return "check what `nodewise doctor` says of perf_event_open";
  }
}

} // namespace

void throw_events_refused(int tid, std::size_t events, int errno_value) {
  throw error(error_kind::system,
              tid == 0 ? "rings for samples of page faults"
                       : "samples of the page faults of thread " + std::to_string(tid),
              "perf_event_open was refused after " + std::to_string(events) + " events",
              hint_for(errno_value), errno_value);
}

void throw_rings_refused(std::size_t rings, std::size_t bytes, int errno_value) {
  throw error(error_kind::system,
              std::to_string(rings) + " rings for samples, of " + std::to_string(bytes >> 10) +
                  " KiB each",
              "mmap of a perf event was refused",
              "end other profilers of this user, or raise sysctl kernel.perf_event_mlock_kb or the "
              "limit of locked memory (ulimit -l)",
              errno_value);
}

} // namespace nodewise::observe
