// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

#include "sys/descriptor.hpp"

namespace nodewise::cli {

/// A file without a name that holds the text, for a program that reads it; exec closes the
/// descriptor. Throws `error` (system).
[[nodiscard]] sys::descriptor memory_file(std::string_view text);

/// The name by which this process and its children open the file from its beginning.
[[nodiscard]] std::string name_of(const sys::descriptor& file);

} // namespace nodewise::cli
