// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/memory_file.hpp"

#include <cerrno>

#include <sys/mman.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "cli/frame/terminal.hpp"

namespace nodewise::cli {

sys::descriptor memory_file(std::string_view text) {
  sys::descriptor made(::memfd_create("nodewise", MFD_CLOEXEC));
  const int failed = made ? write_all(made.number(), text) : errno;
  if (failed != 0) {
    throw error(error_kind::system, "a temporary file in memory", "it cannot be written",
                "free memory, or raise the limits (ulimit -v, ulimit -n)", failed);
  }
  return made;
}

std::string name_of(const sys::descriptor& file) {
  return fmt::format("/proc/self/fd/{}", file.number());
}

} // namespace nodewise::cli
