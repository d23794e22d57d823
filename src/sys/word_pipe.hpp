// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A pipe between a process and the child that becomes a program; exec closes it.
#pragma once

#include <optional>

#include "sys/descriptor.hpp"

namespace nodewise::sys {

/// Carries one number, or none if it is closed first.
class word_pipe {
 public:
  /// Throws `error` (system) if the process has too many files.
  word_pipe();

  /// Call it in the process that only reads; otherwise that process never sees the end.
  void close_writer() noexcept;
  void send(int value) const noexcept;
  /// Waits. nullopt if all writers have closed it without a word.
  [[nodiscard]] std::optional<int> receive() const noexcept;

 private:
  descriptor reader_;
  descriptor writer_;
};

} // namespace nodewise::sys
