// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "observe/refused.hpp"

#include <array>
#include <cerrno>
#include <string>

#include <pwd.h>
#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/numbers.hpp"

namespace nodewise::observe {

namespace {

std::string process_text(int pid) {
  return fmt::format("cannot observe process {}", pid);
}

std::string user_name(unsigned uid) {
  std::array<char, 4096> room{};
  passwd entry{};
  passwd* found = nullptr;
  if (::getpwuid_r(uid, &entry, room.data(), room.size(), &found) == 0 && found != nullptr) {
    return entry.pw_name;
  }
  return fmt::format("user {}", uid);
}

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

void throw_ended(int pid) {
  throw error(error_kind::system, process_text(pid), "it has ended",
              "start it under `nodewise pages -- PROGRAM` to see its pages at its end", ESRCH);
}

void throw_unreadable(sys::process& which, int errno_value) {
  const auto owner = which.user();
  if (!owner || errno_value == ESRCH || errno_value == ENOENT) {
    throw error(error_kind::usage, process_text(which.pid()), "there is no such process",
                "`ps -e` lists all processes", ESRCH);
  }
  if (owner.value == ::geteuid()) {
    throw error(error_kind::system, process_text(which.pid()), "access is not permitted",
                "the process is not dumpable or has more capabilities: run with CAP_SYS_PTRACE",
                errno_value);
  }
  throw error(
      error_kind::system, process_text(which.pid()),
      fmt::format("it belongs to {}, not to {}", user_name(owner.value), user_name(::geteuid())),
      "run as the same user or as root (CAP_SYS_PTRACE); a process that changes its user "
      "or is not dumpable belongs to root",
      errno_value);
}

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
