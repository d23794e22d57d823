// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where code is in a module, and where it comes from in the source.
#pragma once

#include <cstdint>
#include <string>

namespace nodewise::symbols {

/// Half-open: first is inside, last is not.
struct code_range {
  std::uint64_t first = 0;
  std::uint64_t last = 0;
  friend bool operator==(const code_range&, const code_range&) = default;
};

struct source_place {
  std::string function; ///< demangled
  std::string file;     ///< as the compiler recorded it; empty if unknown
  int line = 0;         ///< 0 if unknown
};

} // namespace nodewise::symbols
