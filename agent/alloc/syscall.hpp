// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// The agent's mremap() and syscall(SYS_mremap, ...). Memory that is one mapping for the program is
/// several for the kernel if policies split it.
extern "C" __attribute__((visibility("hidden"))) void* nodewise_remap(void* old,
                                                                      std::size_t old_bytes,
                                                                      std::size_t bytes, int flags,
                                                                      void* address) noexcept;

/// The system call itself, without another library's syscall() in between.
extern "C" __attribute__((visibility("hidden"))) long nodewise_ask_kernel(long number,
                                                                          ...) noexcept;
