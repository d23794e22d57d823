// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::symbols {

/// The path of the loader that a program's file names; empty if it is static or not an ELF file.
[[nodiscard]] std::string interpreter(const std::string& file);

} // namespace nodewise::symbols
