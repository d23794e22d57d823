// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How every failure is told: what was asked, what was answered, what to do.
#pragma once

#include <stdexcept>
#include <string>

#include <nodewise/export.hpp>

namespace nodewise::inline v0 {

/// What kind of thing went wrong; the command turns it into its exit status.
enum class error_kind {
  usage,  ///< an argument, a specification or a number that makes no sense
  input,  ///< a file that cannot be read or does not say what it should
  system, ///< the operating system refused
};

/// Every failure of Nodewise: what was asked, what the system answered, what to do about it.
/// `what()` is all three: "asked for ...; answered: ...; cure: ...".
class NODEWISE_API error : public std::runtime_error {
 public:
  /// `errno_value` is 0 where no system call failed; otherwise its text is appended to `answered`.
  error(error_kind kind, std::string asked, const std::string& answered, std::string cure,
        int errno_value = 0);

  /// What kind of thing went wrong.
  [[nodiscard]] error_kind kind() const noexcept { return kind_; }
  /// What was asked: "binding thread 3 to processors 8-9".
  [[nodiscard]] const std::string& asked() const noexcept { return asked_; }
  /// What the system answered, with the name of its errno.
  [[nodiscard]] const std::string& answered() const noexcept { return answered_; }
  /// What to do about it.
  [[nodiscard]] const std::string& cure() const noexcept { return cure_; }
  /// 0 where no system call failed.
  [[nodiscard]] int errno_value() const noexcept { return errno_value_; }

 private:
  error_kind kind_;
  std::string asked_;
  std::string answered_;
  std::string cure_;
  int errno_value_;
};

/// An errno as a name and a text: "EPERM (Operation not permitted)".
[[nodiscard]] NODEWISE_API std::string errno_text(int errno_value);

} // namespace nodewise::inline v0
