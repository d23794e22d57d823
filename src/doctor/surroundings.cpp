// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "doctor/surroundings.hpp"

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/split.hpp"
#include "doctor/environment.hpp"
#include "sys/descriptor.hpp"
#include "sys/perf.hpp"

namespace nodewise::doctor {

namespace {

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
  const sys::descriptor opened(
      static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | user_mode_only)));
  return opened ? 0 : errno;
}

bool is_program(const std::string& path) {
  struct stat facts{};
  return ::stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode) &&
         ::access(path.c_str(), X_OK) == 0;
}

std::optional<std::string> find_on_path(const std::string& name) {
  const char* const path = std::getenv("PATH");
  for (const std::string_view folder : split(path == nullptr ? "" : path, ':')) {
    std::string candidate = fmt::format("{}/{}", folder, name);
    if (!folder.empty() && is_program(candidate)) {
      return candidate;
    }
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
