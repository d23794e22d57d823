// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A cached file as text and JSON.
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "page_cache/locate.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// Two lines: the strip of a file's pages, and what its marks mean. Without runs: why.
[[nodiscard]] std::string strip_text(const page_cache::file_location& of, const report::style& how);

/// The file's bytes in the cache by node: {"0": 4096}; "unavailable" if the kernel hides them.
/// Bytes whose node is unknown have the name "unknown".
[[nodiscard]] nlohmann::ordered_json cached_json(const page_cache::file_location& of);

/// "48.0 MiB of 64.0 MiB cached"
[[nodiscard]] std::string cached_text(const page_cache::file_location& of);

/// Why a file could not be opened as a cached one, and for a folder what to do.
[[nodiscard]] std::string refused_text(int errno_value);

} // namespace nodewise::cli
