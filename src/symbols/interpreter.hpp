// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::symbols {

/// The loader that a program's file names, a path; empty if it is static, or no ELF file.
[[nodiscard]] std::string interpreter(const std::string& file);

} // namespace nodewise::symbols
