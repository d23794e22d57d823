// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::launch {

/// An empty file in a directory of its own, which nobody else may read, under TMPDIR or /tmp. Both
/// are gone with this value. The agent appends to it and never creates it: a process that outlives
/// the run leaves nothing behind.
class report_file {
 public:
  /// Throws `error` (system).
  report_file();
  report_file(const report_file&) = delete;
  report_file& operator=(const report_file&) = delete;
  ~report_file();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  /// Throws `error` (system).
  [[nodiscard]] std::string read() const;

 private:
  std::string directory_;
  std::string name_;
};

} // namespace nodewise::launch
