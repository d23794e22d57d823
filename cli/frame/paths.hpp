// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace nodewise::cli {

/// Finds the parts of this installation; the build tree has the same layout.
struct paths {
  std::string prefix; ///< holds bin, libexec, lib, share

  /// From the running executable, wherever the tree was moved to. Throws `error` (system) if /proc
  /// does not name it.
  [[nodiscard]] static paths of_this_process();
  /// For an executable at `<prefix>/bin/NAME` or `<prefix>/libexec/nodewise/NAME`.
  [[nodiscard]] static paths of_executable(const std::string& file);

  [[nodiscard]] std::string command() const { return prefix + "/bin/nodewise"; }
  [[nodiscard]] std::string libexec() const { return prefix + "/libexec/nodewise"; }
  [[nodiscard]] std::string tool() const { return libexec() + "/nodewise-tool"; }
  [[nodiscard]] std::string server() const { return libexec() + "/nodewise-serve"; }
  /// Preloaded, it takes the times between a program's marks.
  [[nodiscard]] std::string marks() const { return prefix + "/lib/nodewise/libnodewise-marks.so"; }
  [[nodiscard]] std::string lab_runner() const { return libexec() + "/lab/nodewise_lab"; }
  /// The script of reports.
  [[nodiscard]] std::string report() const { return prefix + "/share/nodewise/report"; }
  [[nodiscard]] std::string machines() const { return prefix + "/share/nodewise/machines"; }
};

} // namespace nodewise::cli
