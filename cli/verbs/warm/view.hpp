// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The result of `nodewise warm`, and how it is shown as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nodewise/machine.hpp>

#include "page_cache/warm.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

/// A file's pages, compared with where they shall be.
struct placed_file {
  std::string path;
  int errno_value = 0;                ///< why nothing of it is known; 0: all of the rest is
  std::string problem;                ///< why nothing was done, in words; usually empty
  page_cache::warmed done;            ///< with --look nothing, and the file is where it was
  std::uint64_t on_owner_pages = 0;   ///< now
  std::vector<std::string> mapped_by; ///< "4711 (server)", if others have mapped pages that stayed

  /// Pages of the file, cached or not.
  [[nodiscard]] std::uint64_t pages() const;
};

struct warmed_files {
  const machine& on;
  std::string placement; ///< "--to", as typed
  std::string shown;     ///< "blocked, one block for each of 4 readers on nodes 0-3"
  bool by_tensor = false;
  bool only_checked = false;
  std::vector<placed_file> files;
};

[[nodiscard]] std::string warm_text(const warmed_files& what, const report::style& how);

} // namespace nodewise::cli
