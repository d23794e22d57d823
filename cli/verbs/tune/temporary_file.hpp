// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::cli {

/// A file in the folder for temporary files, removed at the end.
class temporary_file {
 public:
  /// Throws `error` (system) if it cannot be made.
  temporary_file();
  temporary_file(const temporary_file&) = delete;
  temporary_file& operator=(const temporary_file&) = delete;
  ~temporary_file();

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
};

} // namespace nodewise::cli
