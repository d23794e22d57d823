// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "sys/execute.hpp"

#include <cerrno>

#include <unistd.h>

#include "sys/signals.hpp"

namespace nodewise::sys {

std::vector<char*> words_of(const std::vector<std::string>& command) {
  std::vector<char*> words;
  for (const std::string& word : command) {
    words.push_back(const_cast<char*>(word.c_str()));
  }
  words.push_back(nullptr);
  return words;
}

int execute(const std::vector<std::string>& command) {
  const std::vector<char*> words = words_of(command);
  restore_broken_pipes(); // the new program would inherit an ignored signal
  ::execvp(words.front(), words.data());
  return errno;
}

} // namespace nodewise::sys
