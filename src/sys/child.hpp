// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A supervised child process: signals are passed on, its exit status is taken over.
#pragma once

#include <functional>

namespace nodewise::sys {

struct child_end {
  int wait_status = 0;  ///< as waitpid gives it
  bool started = false; ///< false: the child has reported the reason on stderr

  /// 0..255, or 128 + N after signal N.
  [[nodiscard]] int exit_code() const noexcept;
};

/// Runs `become`, which must replace the process, in a child, and waits for its end. In the child,
/// exceptions of `become` leave this function, too, so that one place reports errors and sets exit
/// codes. `prepare`, if set, is called with the child's pid before `become` begins; its exceptions
/// leave this function, and the child ends silently.
[[nodiscard]] child_end run_child(const std::function<void()>& become,
                                  const std::function<void(int pid)>& prepare = {});

/// Ends this process as the child ended: with the same exit code, or by the same signal.
[[noreturn]] void end_as(const child_end& how);

} // namespace nodewise::sys
