// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Remedies as sentences and as code to paste: what several patterns have in common.
#pragma once

#include <string>
#include <vector>

#include "advise/finding.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

enum class language { unknown, c, cpp, fortran };

/// Values that fill the snippets.
struct subject {
  std::string array = "a"; ///< its symbol, if it has one
  std::string made;        ///< a comment, "// allocated at solver.c:41\n", or empty
  std::string touched;     ///< a comment, "// first touched at solver.c:52\n", or empty
  language in = language::unknown;
  bool openmp = true;
  bool tbb = false;
  bool threads = false; ///< that the program itself starts

  [[nodiscard]] bool is_fortran() const { return in == language::fortran; }
  /// The library's classes are for C++.
  [[nodiscard]] bool takes_cpp() const { return in == language::cpp || in == language::unknown; }
  [[nodiscard]] std::string c_or_cpp() const { return in == language::cpp ? "C++" : "C"; }
};

/// From the code that touches the first of these sites' objects, and the program's runtimes.
[[nodiscard]] subject subject_of(const analysis& of, const positions& sites);

/// A loop for each of the program's runtimes.
[[nodiscard]] std::vector<cure> loops(const subject& of, const std::string& what,
                                      const char* schedule, const std::string& body);
/// Loops that touch the array as the static working loop does.
[[nodiscard]] std::vector<cure> first_touch_loops(const subject& of, const std::string& what);
/// The same, or the library's blocks.
[[nodiscard]] std::vector<cure> touch_in_parallel(const subject& of, const std::string& what);
/// A region of the library with this distribution.
[[nodiscard]] cure region(const subject& of, const char* what, const char* distribution);
[[nodiscard]] cure interleave(const subject& of);

} // namespace nodewise::advise
