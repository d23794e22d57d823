// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Between a process and the child that is to become a program: exec closes the pipe.
#pragma once

#include <array>
#include <optional>

namespace nodewise::sys {

/// Carries one number, or by its end none.
class word_pipe {
 public:
  /// Throws `error` (system) if the process has too many files.
  word_pipe();
  word_pipe(const word_pipe&) = delete;
  word_pipe& operator=(const word_pipe&) = delete;
  ~word_pipe();

  /// In the process that only reads: without it the end is never seen.
  void close_writer() noexcept;
  void send(int value) const noexcept;
  /// Waits. nullopt if all writers have closed it without a word.
  [[nodiscard]] std::optional<int> receive() const noexcept;

 private:
  std::array<int, 2> ends_{-1, -1};
};

} // namespace nodewise::sys
