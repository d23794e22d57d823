// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A small file that several processes read and change in turn, and that survives their crashes.
#pragma once

#include <string>
#include <string_view>

#include "sys/descriptor.hpp"
#include "sys/kernel.hpp"

namespace nodewise::sys {

/// Locked while it exists: only one process at a time has it.
class locked_file {
 public:
  /// Waits for other processes. Returns the kernel's errno: ENOENT if there is no such file.
  [[nodiscard]] static answer<locked_file> open(const std::string& directory,
                                                const std::string& name);
  /// The same, but makes the directory, and the file for this user only, if there is none.
  [[nodiscard]] static answer<locked_file> make(const std::string& directory,
                                                const std::string& name);

  locked_file() = default; ///< none

  /// The first 4 KiB of it.
  [[nodiscard]] answer<std::string> read() const;
  /// Replaces its contents and waits until they are on the medium. Returns 0 or errno. If the
  /// process is killed meanwhile, the file is empty or has the new contents.
  [[nodiscard]] int replace(std::string_view text) const;

 private:
  explicit locked_file(int number) noexcept : file_(number) {}
  [[nodiscard]] static answer<locked_file> lock(const std::string& path, int flags);

  descriptor file_;
};

} // namespace nodewise::sys
