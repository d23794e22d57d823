// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/paths.hpp"

#include <array>
#include <cerrno>
#include <climits>
#include <string_view>

#include <unistd.h>

#include <nodewise/error.hpp>

namespace nodewise::cli {

paths paths::of_executable(const std::string& file) {
  constexpr std::string_view tool_folder = "/libexec/nodewise";
  std::string folder = file.substr(0, file.rfind('/'));
  folder.erase(folder.ends_with(tool_folder) ? folder.size() - tool_folder.size()
                                             : folder.rfind('/'));
  return {folder};
}

paths paths::of_this_process() {
  std::array<char, PATH_MAX> file{};
  const ssize_t length = ::readlink("/proc/self/exe", file.data(), file.size());
  if (length < 0 || static_cast<std::size_t>(length) == file.size()) {
    throw error(error_kind::system, "finding the files of nodewise",
                "/proc/self/exe does not name the executable", "mount /proc",
                length < 0 ? errno : ENAMETOOLONG);
  }
  return of_executable({file.data(), static_cast<std::size_t>(length)});
}

} // namespace nodewise::cli
