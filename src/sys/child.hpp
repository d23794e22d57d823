// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A child process that is stayed with: signals passed on, its end taken over.
#pragma once

#include <functional>

namespace nodewise::sys {

struct child_end {
  int wait_status = 0;  ///< as waitpid gives it
  bool started = false; ///< false: the child has said on stderr why not

  /// 0..255, or 128 + N after signal N.
  [[nodiscard]] int exit_code() const noexcept;
};

/// Runs `become`, which is to replace the process, in a child, and waits for its end. In the child
/// process, what `become` throws leaves this function, too, so that errors are told and exit codes
/// given in one place. `prepare`, if there is one, is called with the child's number before
/// `become` begins; what it throws leaves this function, and the child ends without a trace.
[[nodiscard]] child_end run_child(const std::function<void()>& become,
                                  const std::function<void(int pid)>& prepare = {});

/// Ends this process as the child ended: with its exit code, or by the same signal.
[[noreturn]] void end_as(const child_end& how);

} // namespace nodewise::sys
