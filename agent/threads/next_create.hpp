// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cerrno>

#include <pthread.h>

#include "agent/interposed.hpp"

namespace nodewise::agent {

/// POSIX returns the error; C11 returns one number for all errors.
template <int error, class... Parameters>
int no_threads(Parameters...) noexcept {
  return error;
}

// NOLINTNEXTLINE(bugprone-dynamic-static-initializers): constinit
[[gnu::visibility("hidden")]] inline constinit next_function<int(
    pthread_t*, const pthread_attr_t*, void* (*)(void*), void*)> next_pthread_create{
    "pthread_create", no_threads<ENOSYS>};

} // namespace nodewise::agent
