// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Source names for the code and data of a counted program, and a count with these names, for
// printing, writing and judging.
#pragma once

#include <memory>

#include "symbols/module.hpp"
#include "traffic/counts.hpp"

namespace nodewise::traffic {

/// A place in the source, or the nearest to it that is known.
struct source {
  std::string label;     ///< "solver.c:41", "solve", "solver+0x1234", "0x7f..."
  std::string file = {}; ///< as the compiler recorded it; empty if unknown
  int line = 0;          ///< 0 if unknown
  std::string function = {};
};

/// Uses the mappings of the count and the files they name. Opens modules once.
class namer {
 public:
  /// `of` must outlive this.
  explicit namer(const counts& of) : of_(of) {}

  /// The place of the instruction at this address.
  [[nodiscard]] source code(process_key pid, std::uint64_t pc);
  /// The place that allocated the objects of a site; for a static array only its name.
  [[nodiscard]] source object(const site& which);
  /// For an address that no object covers: a static variable, with the offset in it; "[heap]", the
  /// mapped file, or the address itself.
  [[nodiscard]] std::string data(process_key pid, std::uint64_t address);
  /// The static variable that has most of the line at this address; `start` is an address.
  struct variable {
    std::string name;
    std::uint64_t start = 0;
    std::uint64_t bytes = 0;
  };
  [[nodiscard]] std::optional<variable> variable_at(process_key pid, std::uint64_t address);

 private:
  struct loaded {
    std::string path;
    std::uint64_t start = 0; ///< of its lowest mapping
  };
  /// Has no path if there is none.
  [[nodiscard]] loaded module_below(process_key pid, std::uint64_t address) const;
  [[nodiscard]] std::optional<variable> variable_in(const loaded& below, std::uint64_t address);
  [[nodiscard]] std::uint64_t start_of(process_key pid, const std::string& path) const;
  struct opened {
    std::unique_ptr<symbols::module> module; ///< nullptr if it cannot be opened
    std::vector<symbols::data_object> data;  ///< ascending
  };
  /// nullptr if it cannot be opened.
  [[nodiscard]] const opened* open(const std::string& path);
  [[nodiscard]] source located(const std::string& path, std::uint64_t offset,
                               const std::string& otherwise);

  const counts& of_;
  std::map<std::string, opened> opened_;
};

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
