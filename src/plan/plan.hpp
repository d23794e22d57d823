// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A plan: what to do to an unmodified program, in a file that people read, edit and compare
// (nodewise/plan/1). docs/formats.md describes its fields.
#pragma once

#include <nodewise/team_layout.hpp>

#include "placement/placement.hpp"
#include "plan/plan_words.hpp"

namespace nodewise::plans {

/// Which objects something is for, apart from the code that allocates them: those of these sizes,
/// and of the objects that meet all other conditions those with these positions.
struct object_match : byte_range, ordinals {
  std::string kind; ///< "heap", "map", "static", "group", "file"; empty: any but files
  std::optional<std::string> symbol;
  /// Of mappings of files, a pattern with * and ?: of the path if it has a slash, else of its last
  /// part.
  std::optional<std::string> file = {};
  friend bool operator==(const object_match&, const object_match&) = default;
};

/// Which objects an entry is for: those that meet all its conditions.
struct condition : object_match {
  std::string source;            ///< "solver.c:41": looked up in the program's line table
  std::vector<code_place> stack; ///< return addresses, innermost first: the caller, then its caller
  /// The lines of the further frames of the stack as far as they are known, innermost first. They
  /// distinguish callers of one allocating line when offsets are no longer valid.
  std::vector<std::string> callers;
  friend bool operator==(const condition&, const condition&) = default;
};

struct entry {
  condition which;
  placements::placement where; ///< without nodes: over those that threads run on
  std::string why;             ///< a sentence for people
  /// The profile's name for its objects, "solver.c:41 #2"; empty: `label_of` of `which`.
  std::string name = {};
  friend bool operator==(const entry&, const entry&) = default;
};

/// A build of a library whose code appears in entries.
struct library {
  std::string name;     ///< the file's last part
  std::string build_id; ///< hexadecimal
  friend bool operator==(const library&, const library&) = default;
};

struct plan_file {
  std::string program;            ///< the file's last part
  std::string build_id;           ///< hexadecimal; empty: any
  std::vector<library> libraries; ///< those in `stack` that have a build id
  std::size_t threads = 0;        ///< number that it was made for; 0: unknown
  std::size_t nodes = 0;          ///< nodes with processors that it was made for
  bind_policy bind = bind_policy::none;
  place_kind places = place_kind::threads;
  std::vector<entry> objects; ///< the first that matches applies
  /// For a program that starts threads without a runtime: true if thread 0 is the main thread;
  /// false if the main thread waits and thread 0 is the first that it starts. With a runtime the
  /// main thread always works.
  bool main_works = false;
  /// Sizes of nested parallel regions, outermost first; their product is `threads`. Empty: flat.
  std::vector<std::size_t> teams = {};
  friend bool operator==(const plan_file&, const plan_file&) = default;
};

/// "solver.c:41", "field", "solver+0x1234", "heap": how people recognise an entry; "any" if it has
/// none of these.
[[nodiscard]] std::string label_of(const condition& which);
/// Its name, if it has one.
[[nodiscard]] std::string label_of(const entry& what);

} // namespace nodewise::plans
