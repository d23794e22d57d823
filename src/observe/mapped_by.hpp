// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which processes have mapped a file.
#pragma once

#include <string>
#include <vector>

namespace nodewise::observe {

/// Other processes with a mapping of the file, as "4711 (server)", ascending by number; only those
/// whose mappings this user may see. At most `most`.
[[nodiscard]] std::vector<std::string> mapped_by(const std::string& path, std::size_t most = 8);

} // namespace nodewise::observe
