// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/execute.hpp"

#include <cerrno>
#include <csignal>

#include <unistd.h>

namespace nodewise::cli {

int execute(const std::vector<std::string>& command) {
  std::vector<char*> words;
  words.reserve(command.size() + 1);
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str())); // execvp does not write, its type is old
  }
  words.push_back(nullptr);
  // We ignore SIGPIPE to see EPIPE; what we ignore a new program would ignore, too.
  const auto kept = std::signal(SIGPIPE, SIG_DFL);
  ::execvp(words.front(), words.data());
  const int failed = errno;
  std::signal(SIGPIPE, kept);
  return failed;
}

} // namespace nodewise::cli
