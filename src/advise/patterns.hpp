// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The known patterns, one file each: the evidence it needs, the objects that show it, and its
// report.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <vector>

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

struct detector {
  pattern what = pattern::serial_initialisation;
  unsigned needs = 0;
  bool explains_objects = true; ///< no other pattern then reports the same objects
  bool placement_cures = true;  ///< a plan can help
  /// Positions of the sites, among those that are `free`, that show it; empty: not found.
  std::vector<std::size_t> (*sites)(const analysis&, const std::vector<char>& free) = nullptr;
  suspicion (*describe)(const analysis&, const std::vector<std::size_t>& sites) = nullptr;
  /// The missing machine figure, if the pattern may apply but cannot be judged; otherwise empty.
  std::string (*unjudged)(const analysis&) = nullptr;
};

/// In the order of `pattern`.
[[nodiscard]] const std::array<detector, patterns>& detectors();
/// The missing evidence; empty if none is missing.
[[nodiscard]] std::string missing_evidence(const analysis_input& of, unsigned needs);

extern const detector nameless;
extern const detector own_placement;
extern const detector buffer_cache;
extern const detector larger_than_node;
extern const detector sparse_matrix;
extern const detector small_chunks;
extern const detector dynamic_schedule;
extern const detector used_by_all;
extern const detector growth;
extern const detector serial_file_read;
extern const detector dynamic_members;
extern const detector constructor_touch;
extern const detector partly_parallel;
extern const detector static_arrays;
extern const detector serial_initialisation;
extern const detector different_schedules;
extern const detector few_threads;
extern const detector unpinned_threads;
extern const detector thread_stacks;
extern const detector unbalanced_work;
extern const detector false_sharing;

} // namespace nodewise::advise
