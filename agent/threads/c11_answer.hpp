// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include <threads.h>

namespace nodewise::agent {

/// Converts an errno of pthread_create() to a result of thrd_create().
inline int c11_answer(int answer) noexcept {
  switch (answer) {
  case 0:
    return thrd_success;
  case ENOMEM:
    return thrd_nomem;
  case EBUSY:
    return thrd_busy;
  case ETIMEDOUT:
    return thrd_timedout;
  default:
    return thrd_error;
  }
}

} // namespace nodewise::agent
