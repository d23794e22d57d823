// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The known patterns, one file each: the evidence it needs, the objects that show it, and its
// report. Also what several of them share.
#pragma once

#include <array>

#include "advise/price.hpp"
#include "advise/shape.hpp"
#include "base/text.hpp"

namespace nodewise::advise {

// Remedies as sentences and as code to paste.

enum class language { unknown, c, cpp, fortran };

/// Values that fill the snippets.
struct subject {
  std::string array = "a"; ///< its symbol, if it has one
  std::string made;        ///< a comment, "// allocated at solver.c:41\n", or empty
  /// Comments, "// a stands for solver.c:41\n// first touched at solver.c:52\n// used at
  /// solver.c:60 and solver.c:71\n", or empty. The schedule of the loops that use the array is the
  /// one to copy.
  std::string touched;
  language in = language::unknown;
  bool openmp = true;
  bool tbb = false;
  bool threads = false; ///< that the program itself starts

  [[nodiscard]] bool is_fortran() const { return in == language::fortran; }
  /// The library's classes are for C++.
  [[nodiscard]] bool takes_cpp() const { return in == language::cpp || in == language::unknown; }
  [[nodiscard]] std::string c_or_cpp() const { return in == language::cpp ? "C++" : "C"; }
};

/// The code that touched most of the object's pages first; nullptr if unknown.
[[nodiscard]] const profile::frame* first_toucher(const profile::object& what);
/// From the first of these sites' objects, the code of the finding, and the program's runtimes.
[[nodiscard]] subject subject_of(const analysis& of, const positions& sites, const finding& what);

/// What fixes have in common.
struct remedy {
  /// A sentence.
  const char* what = "touch it first in parallel, with the schedule of the loop that uses it";
  const char* code = "";
};

/// A loop for each of the program's runtimes.
[[nodiscard]] std::vector<cure> loops(const subject& of, const std::string& what,
                                      const char* schedule, const std::string& body);
/// Loops that touch the array as the static working loop does.
[[nodiscard]] std::vector<cure> first_touch_loops(const subject& of, const remedy& with);
/// The same, or the library's blocks.
[[nodiscard]] std::vector<cure> touch_in_parallel(const subject& of, const remedy& with);
/// A region of the library with this distribution.
[[nodiscard]] cure region(const subject& of, const std::string& what, const char* distribution);
[[nodiscard]] std::vector<cure> interleave(const subject& of, const remedy& with);
inline constexpr remedy spread_pages = {"pages in turn over the nodes: each memory serves its part",
                                        "nodewise run --memory interleave -- PROGRAM\n"};
/// The command is the remedy's code.
[[nodiscard]] std::vector<cure> command(const subject& of, const remedy& with);

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
  std::vector<cure> (*cures)(const subject& of, const remedy& with) = nullptr;
  remedy with = {};
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

// Checks that several patterns share.

/// Whether a site is large enough to report: by its traffic or by its bytes.
[[nodiscard]] bool is_worth_a_look(const analysis_input& of, const site& which);

/// Sites for which `is(item, shape)` holds for nearly all of their use.
template <class Is>
[[nodiscard]] positions sites_where(const analysis& of, const std::vector<char>& free,
                                    const Is& is) {
  constexpr double nearly_all = 0.8;
  return positions_below(free.size(), [&](std::size_t s) {
    const site& each = of.sites[s];
    if (free[s] == 0 || !is_worth_a_look(of, each)) {
      return false;
    }
    const double so = sum_over(each.items, [&](std::size_t i) {
      const item& one = of.items[i];
      return is(one, of.shapes[i]) ? one.bytes() : 0;
    });
    return so > 0 && so >= nearly_all * each.bytes;
  });
}
/// Sites of which nearly all was used, whether they are free or not.
[[nodiscard]] positions sites_in_use(const analysis& of);

/// The evidence that any thread works on any page, as a line.
[[nodiscard]] std::string sharers_of(const analysis& of, const positions& sites);
/// The assumption behind it.
inline constexpr const char* in_step =
    "assumption: threads go through the arrays together, so that "
    "neighbouring pages are in use at the same time";
/// One thread touched it, so that it is on one node, and other nodes use it.
[[nodiscard]] bool is_serial(const item& what, const shape& how);
/// Share of remote traffic from which placement matters.
inline constexpr double some_remote = 0.05;

/// "a, b and c".
[[nodiscard]] std::string names_of(const analysis_input& of, const positions& sites);
/// The mean of `value(shape)` over the sites' items, weighted by the bytes that they moved.
template <class Value>
[[nodiscard]] double mean_over(const analysis& of, const positions& sites, const Value& value) {
  double all = 0;
  double sum = 0;
  for (const std::size_t i : of.items_of(sites)) {
    all += of.items[i].bytes();
    sum += of.items[i].bytes() * std::invoke(value, of.shapes[i]);
  }
  return all > 0 ? sum / all : 0;
}
/// The shape of the sites' object that moved most.
[[nodiscard]] const shape& greatest(const analysis& of, const positions& sites);

/// Lines on which threads touched it, where its pages are, and which threads use it.
[[nodiscard]] std::vector<std::string> usual_evidence(const analysis& of, const positions& sites);
/// Observations that contradict each other.
[[nodiscard]] std::vector<std::string> usual_doubts(const analysis& of, const positions& sites);
/// Lines around the usual ones; an empty line is left out.
struct unusual {
  std::string first = {}; ///< evidence
  std::string last = {};  ///< evidence
  std::string remark = {};
};
/// "NAMES: PROBLEM", with the usual evidence and doubts.
[[nodiscard]] suspicion usual(const analysis& of, const positions& sites, std::string_view problem,
                              const unusual& more = {});

// Pages that are not where their first touch wanted them, because that memory was full.

struct overflow {
  std::size_t memory = nowhere;                ///< wanted by most of the pages that did not get it
  double wanted_bytes = 0;                     ///< by first touches, over all objects
  double missed_bytes = 0;                     ///< the part of it that is elsewhere
  positions sites;                             ///< with pages that missed the memory, ascending
  const profile::node_memory* state = nullptr; ///< of the memory; nullptr if unknown
};
/// `memory` is `nowhere` if pages are where they should be, or if that is unknown.
[[nodiscard]] overflow overflow_of(const analysis& of, const std::vector<char>& free);
[[nodiscard]] overflow overflow_of(const analysis& of); ///< for all sites

/// The course with all pages where first touch would put them if there were room.
[[nodiscard]] course had_there_been_room(const analysis& of);

} // namespace nodewise::advise
