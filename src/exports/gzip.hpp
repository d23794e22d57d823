// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>

namespace nodewise::exports {

/// The data as a gzip file, without a name and a time: the same data always gives the same bytes.
/// Throws std::bad_alloc.
[[nodiscard]] std::string gzip(std::string_view data);

} // namespace nodewise::exports
