// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The known patterns, one file each: the evidence it needs, the objects that show it, and its
// report.
#pragma once

#include <array>
#include <optional>
#include <string>
#include <vector>

#include "advise/cures.hpp"
#include "advise/finding.hpp"
#include "advise/price.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

/// Evidence that a pattern requires, as bits.
enum evidence_need : unsigned {
  needs_faults = 1,  ///< first touches of pages
  needs_uses = 2,    ///< uses of pages
  needs_objects = 4, ///< from the agent
  needs_memory = 8,  ///< of nodes
  needs_counts = 16, ///< the lab's counts: writers of lines
  needs_threads = 32 ///< where threads ran
};

/// A finding that has not been priced yet.
struct suspicion {
  std::string title;
  std::vector<std::string> evidence = {};
  std::vector<std::string> remarks = {};
  std::optional<course> after = {}; ///< after the remedy; empty: after placing the objects
  std::optional<gain> worth = {};   ///< set if it does not come from the model
};

/// What a pattern concerns, and whether other patterns may report the same objects.
enum class scope {
  placement, ///< of objects that it alone reports; a plan can help
  objects,   ///< that it alone reports; no plan can help
  program,   ///< objects may also have other reports; no plan can help
};

struct detector {
  pattern what = pattern::serial_initialisation;
  unsigned needs = 0;
  /// Positions of the sites, among those that are `free`, that show it; empty: not found.
  positions (*sites)(const analysis&, const std::vector<char>& free) = nullptr;
  suspicion (*describe)(const analysis&, const positions& sites) = nullptr;
  /// In the language of the subject, for its runtimes, most important first.
  std::vector<cure> (*cures)(const subject& of) = nullptr;
  scope concerns = scope::placement;
  /// The missing machine figure, if the pattern may apply but cannot be judged; otherwise empty.
  std::string (*unjudged)(const analysis&) = nullptr;

  [[nodiscard]] bool can_place() const noexcept { return concerns == scope::placement; }
};

/// In the order of `pattern`.
[[nodiscard]] const std::array<detector, patterns>& detectors();
/// The missing evidence; empty if none is missing.
[[nodiscard]] std::string missing_evidence(const analysis_input& of, unsigned needs);

#define NODEWISE_PATTERN(name) extern const detector name;
NODEWISE_PATTERNS(NODEWISE_PATTERN)
#undef NODEWISE_PATTERN

} // namespace nodewise::advise
