// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/tune/temporary_file.hpp"

#include <cerrno>
#include <cstdlib>
#include <filesystem>

#include <unistd.h>

#include <nodewise/error.hpp>

namespace nodewise::cli {

temporary_file::temporary_file()
    : name_(std::filesystem::temp_directory_path() / "nodewise-tune-XXXXXX") {
  const int file = ::mkstemp(name_.data());
  if (file < 0) {
    throw error(error_kind::system, "a file for the figures of runs", "it cannot be made",
                "set TMPDIR to a folder that you may write", errno);
  }
  ::close(file);
}

temporary_file::~temporary_file() {
  ::unlink(name_.c_str());
}

} // namespace nodewise::cli
