// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

/// Calls `work(with)` on the stack that ends at `end`, a multiple of 16, and waits for its return.
/// Uses a few words of the caller's stack.
extern "C" __attribute__((visibility("hidden"))) void
nodewise_call_on_stack(void* end, void (*work)(void*), void* with) noexcept;
