// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::symbols {

/// What the linker stamped an ELF file with, the same for no other program: hexadecimal, small
/// letters. Empty where the file has none, cannot be read or is no ELF file.
[[nodiscard]] std::string build_id(const std::string& file);

} // namespace nodewise::symbols
