// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Starts programs: in place of this process, for their output, or as a supervised child, to which
// signals are passed on and whose exit status is taken over.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sys/descriptor.hpp"

namespace nodewise::sys {

/// Replaces this process by a program; `command[0]` is searched as a shell does. Restores SIGPIPE
/// as this process found it. Returns only on failure, with the errno.
[[nodiscard]] int execute(const std::vector<std::string>& command);

/// What a command prints on standard output, at most 1 MiB. Its input is empty and its stderr is
/// discarded. nullopt if it could not be run or did not end with 0.
[[nodiscard]] std::optional<std::string> output_of(const std::vector<std::string>& command);

/// A pipe between a process and the child that becomes a program; exec closes it. Carries one
/// number, or none if it is closed first.
class word_pipe {
 public:
  /// Throws `error` (system) if the process has too many files.
  word_pipe();

  /// Call it in the process that only reads; otherwise that process never sees the end.
  void close_writer() noexcept { writer_ = descriptor(); }
  void send(int value) const noexcept;
  /// Waits. nullopt if all writers have closed it without a word.
  [[nodiscard]] std::optional<int> receive() const noexcept;

 private:
  descriptor reader_;
  descriptor writer_;
};

struct child_end {
  int wait_status = 0;  ///< as waitpid gives it
  bool started = false; ///< false: the child has reported the reason on stderr

  /// 0..255, or 128 + N after signal N.
  [[nodiscard]] int exit_code() const noexcept;
};

/// Runs `become`, which must replace the process, in a child, and waits for its end. In the child,
/// exceptions of `become` leave this function, too, so that one place reports errors and sets exit
/// codes. `prepare`, if set, is called with the child's pid before `become` begins; its exceptions
/// leave this function, and the child ends silently. `finish`, if set, is called after the child's
/// end; it must not throw. From before `prepare` until after `finish`, signals do not end this
/// process.
[[nodiscard]] child_end run_child(const std::function<void()>& become,
                                  const std::function<void(int pid)>& prepare = {},
                                  const std::function<void()>& finish = {});

/// Ends this process as the child ended: with the same exit code, or by the same signal.
[[noreturn]] void end_as(const child_end& how);

} // namespace nodewise::sys
