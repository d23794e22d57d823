// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::agent {

/// Whether a shared object is a runtime or a communication library, by the last part of its path.
/// The agent leaves these alone: they start threads that they bind themselves or want unbound, and
/// their static arrays hold no data of the program.
[[nodiscard]] bool is_runtime(const char* file) noexcept;
/// Whether a shared object is the C library, the dynamic linker, or the library of a language.
[[nodiscard]] bool is_language_library(const char* file) noexcept;

} // namespace nodewise::agent
