// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::symbols {

/// The build id of an ELF file, unique to a program, in lower-case hexadecimal. Empty if the file
/// has none, cannot be read or is not an ELF file.
[[nodiscard]] std::string build_id(const std::string& file);

} // namespace nodewise::symbols
