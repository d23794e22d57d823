// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// `nodewise pages --file`: where the cached pages of files are.
#pragma once

#include <string>
#include <vector>

#include <nodewise/machine.hpp>

#include "cli/frame/invocation.hpp"
#include "page_cache/locate.hpp"

namespace nodewise::cli {

struct located_file {
  std::string path;
  int errno_value = 0; ///< why nothing of it is known; 0: the rest is
  page_cache::file_location where;
  std::vector<std::string> mapped_by; ///< "4711 (server)"
};

struct cached_files {
  const machine& on;
  std::vector<located_file> files;
};

/// Returns the exit code.
[[nodiscard]] int show_cached_files(const invocation& given);

} // namespace nodewise::cli
