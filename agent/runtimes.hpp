// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::agent {

/// Whether a shared object is a runtime's or a communication library's, by the last part of its
/// file's name. These start threads of their own and bind them themselves or want them unbound, and
/// their static arrays are nobody's data: all that is left alone.
[[nodiscard]] bool is_runtime(const char* file) noexcept;
/// Whether a shared object is the C library, the dynamic linker, or a language's own library.
[[nodiscard]] bool is_language_library(const char* file) noexcept;

} // namespace nodewise::agent
