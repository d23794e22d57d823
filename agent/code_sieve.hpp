// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Which words of a stack are code, and which of these are returns.
#pragma once

#include <cstddef>

namespace nodewise::agent {

/// Tells the words that point into code, all return addresses among them, from those that point at
/// data. It remembers the last module: neighbours on a stack often have the same one.
class code_sieve {
 public:
  /// In a module that says nothing of its segments any address counts as code.
  [[nodiscard]] bool is_code(const char* address) noexcept {
    look_at(address);
    return address >= code_begin_ && address < code_end_;
  }
  /// Whether the instruction before this address is a call: a function that it called would return
  /// there. False where the code cannot be read. A word that a former call has left on the stack
  /// passes, too; most others do not.
  [[nodiscard]] bool is_return(const char* address) noexcept;

 private:
  void look_at(const char* address) noexcept {
    if (address < module_begin_ || address >= module_end_) {
      find(address);
    }
  }
  void find(const char* address) noexcept;
  void read_segments() noexcept;

  const char* module_begin_ = nullptr;
  const char* module_end_ = nullptr;
  const char* code_begin_ = nullptr;
  const char* code_end_ = nullptr;
  bool readable_ = false; ///< the module says that its code can be read
};

/// Whether the `count` bytes before `back` end with a call instruction.
[[nodiscard]] bool ends_call_of_x86_64(const unsigned char* back, std::size_t count) noexcept;
[[nodiscard]] bool ends_call_of_aarch64(const unsigned char* back, std::size_t count) noexcept;

} // namespace nodewise::agent
