// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/not_started.hpp"

#include <cerrno>

#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>

namespace nodewise::launch {

namespace {

struct answer {
  const char* what;
  std::string hint;
};

constexpr const char* not_in_path = "it was not found";
constexpr const char* spelling = "check the spelling, the PATH, or give a path with a slash";

/// The program is not in PATH. One may be in the working directory, which is not searched.
answer outside_path(const std::string& program, const struct stat* here) {
  if (here != nullptr && S_ISDIR(here->st_mode)) {
    return {"it was not found in PATH, and is a directory here", "name a program"};
  }
  if (here != nullptr) {
    return {"it was not found in PATH, and is a file here", fmt::format("write ./{}", program)};
  }
  return {not_in_path, spelling};
}

answer missing(const std::string& program, const struct stat* found, bool is_path) {
  if (!is_path) {
    return outside_path(program, found);
  }
  if (found == nullptr || S_ISDIR(found->st_mode)) {
    return {not_in_path, spelling};
  }
  return {"the interpreter or loader that it names was not found",
          fmt::format("check its first line, or what `file {}` shows, and install that", program)};
}

answer denied(const std::string& program, const struct stat* found, bool is_path) {
  if (!is_path) {
    return {"the files of this name in PATH are not executable",
            "find them with `type -a`, and give a path with a slash"};
  }
  if (found != nullptr && S_ISDIR(found->st_mode)) {
    return {"it is a directory", "name a program in it"};
  }
  if (found != nullptr && !S_ISREG(found->st_mode)) {
    return {"it is not a file", "name a program"};
  }
  if (found != nullptr && ::access(program.c_str(), X_OK) != 0) {
    return {"it has no permission to be executed",
            fmt::format("chmod +x {}, or write its interpreter before it", program)};
  }
  return {"it cannot be executed",
          "check the permissions of its directories and of its interpreter, and that its file "
          "system is not mounted with noexec"};
}

} // namespace

not_started why_not_started(const std::string& program, int errno_value) {
  struct stat facts{};
  const bool exists = ::stat(program.c_str(), &facts) == 0;
  const struct stat* const found = exists ? &facts : nullptr;
  // "." and ".." are searched in PATH's directories, where they name directories.
  const bool is_path = program.find('/') != std::string::npos || program == "." || program == "..";
  const bool is_missing = errno_value == ENOENT || errno_value == ENOTDIR;
  const answer why = is_missing              ? missing(program, found, is_path)
                     : errno_value == EACCES ? denied(program, found, is_path)
                     : errno_value == ENOEXEC
                         ? answer{"it is neither a program nor a script with an interpreter",
                                  "begin a script with #! and its interpreter"}
                         : answer{"it cannot be executed",
                                  "check its permissions, and that it is built for this machine"};
  return {is_missing ? not_started::not_found : not_started::not_executable,
          fmt::format("the program '{}'", program), why.what, why.hint, errno_value};
}

} // namespace nodewise::launch
