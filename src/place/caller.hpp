// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::engine {

/// The return address into the code that called the library: of the innermost frame of this thread
/// that is not in the library's module. `otherwise` if there is none, and if the library is linked
/// into the program itself, where a module does not separate the two. Takes microseconds.
[[nodiscard]] const void* caller_of_library(const void* otherwise) noexcept;

} // namespace nodewise::engine
