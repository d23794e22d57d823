// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include "launch/agent_report.hpp"

namespace nodewise::launch {

/// A file for the agent's records in its own directory, which only this user may read, under TMPDIR
/// or /tmp. The destructor removes both. The agent maps the file and never creates it, so a process
/// that outlives the run leaves nothing behind. The next run removes those of a killed run.
///
/// The constructor reserves the blocks. On a full disk, a write to a mapping would end the program
/// with SIGBUS; here it is an error before the program starts.
class report_file {
 public:
  /// Sizes to ask for. A record of an object takes about 500 bytes; trace mode records more about
  /// each object and adds stacks of up to 8 KiB.
  static constexpr std::size_t for_objects = std::size_t{16} << 20;
  static constexpr std::size_t for_trace = std::size_t{64} << 20;

  /// Takes less than `wanted` if the file system has little room (up to a 64th of it, but at least
  /// 1 MiB) or the process may not write as much (ulimit -f). Throws `error` (system) if there is
  /// no room for 4 KiB.
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
  int maker_; ///< a child that fails to exec destroys this value, too
};

// A killed process cannot remove its temporary files. Their names identify their owner, so that the
// next run can remove them.

/// PREFIX, the pid of this process, and the scope in which that pid is valid:
/// "nodewise-4711-1a2b3c4d-". Other hosts and containers may share the directory.
[[nodiscard]] std::string name_of_owner(const std::string& prefix);

/// Removes what ended processes left in `directory` under names that begin with
/// `name_of_owner(prefix)`: files, and directories that contain nothing but a file `inside`. Only
/// entries of this user that were made on this host, in this container. Entries that cannot be
/// removed stay.
void remove_leftovers(const std::string& directory, const std::string& prefix,
                      const std::string& inside = "report") noexcept;

} // namespace nodewise::launch
