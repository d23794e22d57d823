// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A thread's place as a thread attribute, so that it is in force before the thread's first
// instruction.
#pragma once

#include <cstddef>

#include <pthread.h>

#include "agent/protocol.h"

namespace nodewise::agent {

/// At least the number of processors that any Linux kernel supports.
inline constexpr std::size_t max_cpus = 8192;

struct cpu_mask {
  unsigned long words[max_cpus / (sizeof(unsigned long) * 8)];
  std::size_t bytes; ///< of the words in use
};

/// The places that the launcher listed: "0-1|2-3,8".
class place_list {
 public:
  /// `text` must outlive this object; nullptr: no places. False if there is no memory for them.
  [[nodiscard]] bool read(const char* text) noexcept;
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  /// Skips processors from `max_cpus` on. The kernel refuses an empty mask.
  void mask(std::size_t place, cpu_mask& into) const noexcept;
  /// The place as the launcher wrote it; cut to what fits, and then it ends with "...".
  void text(std::size_t place, char (&into)[NODEWISE_AGENT_NAME_BYTES]) const noexcept;

 private:
  const char* text_ = nullptr;
  unsigned* offset_ = nullptr; ///< of each place within the text
  std::size_t count_ = 0;
};

/// A mask as text: "0-3,8".
void write_mask(const cpu_mask& mask, char (&into)[NODEWISE_AGENT_NAME_BYTES]) noexcept;

/// Whether these attributes already bind threads to processors. nullptr: the process's defaults.
[[nodiscard]] bool have_affinity(const pthread_attr_t* attributes) noexcept;

/// A copy of thread attributes without an affinity, with an affinity added. The original keeps all
/// that it owns.
class placed_attributes {
 public:
  /// `original` may be nullptr: the defaults of the process.
  placed_attributes(const pthread_attr_t* original, const cpu_mask& where) noexcept;
  ~placed_attributes();
  placed_attributes(const placed_attributes&) = delete;
  placed_attributes& operator=(const placed_attributes&) = delete;

  /// 0, or the errno of why the copy could not be made.
  [[nodiscard]] int failure() const noexcept { return failure_; }
  [[nodiscard]] const pthread_attr_t* get() const noexcept { return &copy_; }

 private:
  pthread_attr_t copy_;
  bool copied_ = false;
  int failure_ = 0;
};

} // namespace nodewise::agent
