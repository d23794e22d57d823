// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/surroundings.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "doctor/environment.hpp"
#include "sys/perf.hpp"

namespace nodewise::doctor {

namespace {

/// Closes the descriptor that a call returned; returns 0, or the errno of a failed call.
int close_again(long descriptor) {
  if (descriptor < 0) {
    return errno;
  }
  ::close(static_cast<int>(descriptor));
  return 0;
}

int open_fault_counter_now() {
  sys::perf_request what;
  what.what = sys::perf_counter::any_faults;
  what.period = 0;
  what.cpu = sys::any_cpu;
  what.disabled = true;
  return sys::perf_event::open(what).errno_value;
}

int open_userfaultfd_now() {
#ifdef UFFD_USER_MODE_ONLY
  constexpr int user_mode_only = UFFD_USER_MODE_ONLY;
#else
  constexpr int user_mode_only = 1;
#endif
  return close_again(::syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only));
}

bool is_program(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  std::string_view left = path == nullptr ? std::string_view{} : std::string_view{path};
  while (!left.empty()) {
    const std::size_t colon = std::min(left.find(':'), left.size());
    std::string candidate = std::string(left.substr(0, colon)) + "/" + name;
    if (colon > 0 && is_program(candidate)) {
      return candidate;
    }
    left.remove_prefix(std::min(colon + 1, left.size()));
  }
  return std::nullopt;
}

} // namespace

surroundings surroundings::of_this_system() {
  surroundings here;
  here.kernel = &sys::real_kernel();
  here.open_fault_counter = open_fault_counter_now;
  here.open_userfaultfd = open_userfaultfd_now;
  here.find_program = find_on_path;
  here.variables =
      read_variables([](const char* name) -> const char* { return std::getenv(name); });
  return here;
}

} // namespace nodewise::doctor
