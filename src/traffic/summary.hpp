// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A count with names, for printing, writing and judging.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "traffic/counts.hpp"
#include "traffic/figures.hpp"
#include "traffic/namer.hpp"

namespace nodewise::traffic {

struct named_site {
  site what;
  source name;

  /// Whether `asked` may refer to it: a static array's name, "solver.c:41", "solver.c", or the
  /// label as it is printed.
  [[nodiscard]] bool answers_to(std::string_view asked) const;
};

/// All instructions of a source line, in all processes.
struct source_line {
  source name;
  std::array<locality, phases> fills;
};

struct named_shared_line {
  shared_line what;
  std::string name; ///< of the object and the offset in it, or of the static variable
};

struct summary {
  counts all;
  phase judged = phase::use;
  std::vector<named_site> sites;         ///< worst first
  std::vector<source_line> lines;        ///< worst first
  std::vector<named_shared_line> shared; ///< worst first
};

/// Looks names up in the files that the count names. For a count that was not refused.
[[nodiscard]] summary summarise(counts of);

} // namespace nodewise::traffic
