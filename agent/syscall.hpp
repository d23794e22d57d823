// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

/// What mremap() and syscall(SYS_mremap, ...) do under the agent. The program's memory is one
/// mapping to it, and several to the kernel where policies split it.
extern "C" __attribute__((visibility("hidden"))) void* nodewise_remap(void* old,
                                                                      std::size_t old_bytes,
                                                                      std::size_t bytes, int flags,
                                                                      void* address) noexcept;

/// The system call itself, without another library's syscall() in between.
extern "C" __attribute__((visibility("hidden"))) long nodewise_ask_kernel(long number,
                                                                          ...) noexcept;
