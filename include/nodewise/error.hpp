// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The exception that Nodewise throws. It reports what was attempted, the reason, and what to do.
//
//     #include <nodewise/topology.hpp>
//
//     try {
//       const auto machine = nodewise::topology::from_xml("no-such-file.xml");
//     } catch (const nodewise::error& failed) {
//       std::printf("%s: %s\n", failed.asked().c_str(), failed.answered().c_str());
//       std::printf("hint: %s\n", failed.hint().c_str());
//     }
#pragma once

#include <stdexcept>
#include <string>

#include <nodewise/export.hpp>

namespace nodewise::inline v0 {

/// The kind of an error; the command `nodewise` derives its exit status from it.
enum class error_kind {
  usage,  ///< an invalid argument, specification or number
  input,  ///< a file that cannot be read or has invalid contents
  system, ///< the operating system refused
};

/// The exception that Nodewise throws: what was attempted, the reason, and what to do about it.
/// `what()` joins the three parts in one line.
class NODEWISE_API error : public std::runtime_error {
 public:
  /// `errno_value` is 0 if no system call failed; otherwise its text is appended to `answered`.
  error(error_kind kind, std::string asked, const std::string& answered, std::string hint,
        int errno_value = 0);

  /// Returns the kind of the error.
  [[nodiscard]] error_kind kind() const noexcept { return kind_; }
  /// Returns what was attempted: "binding thread 3 to processors 8-9".
  [[nodiscard]] const std::string& asked() const noexcept { return asked_; }
  /// Returns the reason, with the name of the errno if there is one.
  [[nodiscard]] const std::string& answered() const noexcept { return answered_; }
  /// Returns what to do about it.
  [[nodiscard]] const std::string& hint() const noexcept { return hint_; }
  /// The old name of `hint()`.
  [[deprecated("use hint()")]] [[nodiscard]] const std::string& cure() const noexcept {
    return hint_;
  }
  /// Returns the errno; 0 if no system call failed.
  [[nodiscard]] int errno_value() const noexcept { return errno_value_; }

 private:
  error_kind kind_;
  std::string asked_;
  std::string answered_;
  std::string hint_;
  int errno_value_;
};

/// Returns an errno as a name and a text: "EPERM (Operation not permitted)".
[[nodiscard]] NODEWISE_API std::string errno_text(int errno_value);

} // namespace nodewise::inline v0
