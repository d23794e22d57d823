// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "launch/agent_report.hpp"

namespace nodewise::launch {

/// A file for the agent's records in a directory of its own, which nobody else may read, under
/// TMPDIR or /tmp. Both are gone with this value. The agent maps it and never creates it: a process
/// that outlives the run leaves nothing behind. Those of a run that was killed are removed by the
/// next.
///
/// Its blocks are reserved here. In a mapping the kernel answers a full disk with SIGBUS, to the
/// program; here it is an error, before the program starts.
class report_file {
 public:
  /// How much room it should have. A record of an object is some 500 bytes; trace mode records
  /// more of each and adds stacks of up to 8 KiB.
  static constexpr std::size_t for_objects = std::size_t{16} << 20;
  static constexpr std::size_t for_trace = std::size_t{64} << 20;

  /// Takes less than `wanted` where the file system has little room (up to a 64th of it, but at
  /// least 1 MiB) or the process may not write so much (ulimit -f). Throws `error` (system) where
  /// there is no room for 4 KiB.
  explicit report_file(std::size_t wanted);
  report_file(const report_file&) = delete;
  report_file& operator=(const report_file&) = delete;
  ~report_file();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Throws `error` (system).
  [[nodiscard]] run_report read() const;

 private:
  void make(std::size_t wanted);

  std::string directory_;
  std::string name_;
  room_limit limit_ = room_limit::none;
  int maker_; ///< a child that could not become the program destroys this value, too
};

} // namespace nodewise::launch
