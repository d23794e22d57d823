// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Finds the words of a stack that are code addresses, and the return addresses among them.
#pragma once

#include <cstddef>

namespace nodewise::agent {

/// Separates words that point into code, such as return addresses, from those that point at data.
/// It remembers the last module, since neighbouring words on a stack often have the same one.
class code_sieve {
 public:
  /// In a module without a list of segments any address counts as code.
  [[nodiscard]] bool is_code(const char* address) noexcept {
    look_at(address);
    return address >= code_begin_ && address < code_end_;
  }
  /// Whether the instruction before this address is a call, so that the address may be a return
  /// address. False if the code cannot be read. Words that an earlier call left on the stack pass
  /// as well; most other words do not.
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
  bool readable_ = false; ///< the module's segment of code is readable
};

/// Whether the last of the `count` bytes before `back` are a call instruction.
[[nodiscard]] bool ends_call_of_x86_64(const unsigned char* back, std::size_t count) noexcept;
[[nodiscard]] bool ends_call_of_aarch64(const unsigned char* back, std::size_t count) noexcept;

} // namespace nodewise::agent
