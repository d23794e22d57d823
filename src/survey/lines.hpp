// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Records among other output. Where hosts share no file system, a rank prints its record on
// standard output, and the launcher mixes the lines of all ranks with those of the program. So a
// record is cut into lines of less than 512 bytes, which POSIX writes to a pipe as a whole, and
// each line has a checksum:
//
//     nodewise-survey/1 JOB RANK PART/PARTS CHECKSUM PIECE
#pragma once

#include <cstddef>
#include <functional>
#include <iosfwd>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "survey/record.hpp"

namespace nodewise::survey {

/// Longest line with its end, in bytes.
inline constexpr std::size_t longest_line = 511;

/// The record as lines, each with its end.
[[nodiscard]] std::vector<std::string> lines_of(const rank_record& what);

/// Finds records in the lines of files: whole ones, and those in pieces.
class record_finder {
 public:
  /// `found` is called with each record and with the place that it was read from, "FILE:12".
  explicit record_finder(std::function<void(rank_record, std::string)> found)
      : found_(std::move(found)) {}

  /// Reads to the end, line by line: the output of a job may be larger than memory. `name` is for
  /// the places.
  void read(std::istream& from, const std::string& name);
  /// Reports records of which pieces are missing. Call it after all files.
  void finish();

  /// Sentences about lines that look like records but are none.
  [[nodiscard]] const std::vector<std::string>& problems() const noexcept { return problems_; }

 private:
  struct pieces {
    std::vector<std::string> parts; ///< empty: not seen yet
    std::string place;              ///< of the first piece that was seen
    bool whole = false;
  };

  void add_line(std::string_view line, const std::string& place);
  bool add_piece(std::string_view line, const std::string& place);
  void add_record(std::string_view text, const std::string& place);

  std::function<void(rank_record, std::string)> found_;
  std::map<std::string, pieces> pieces_; ///< by job, rank and number of parts
  std::vector<std::string> problems_;
};

} // namespace nodewise::survey
