// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstring>

#include <sys/mman.h>

#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

/// Memory for the data about one module, which is freed as a whole.
class module_memory {
 public:
  /// nullptr if there is none.
  [[nodiscard]] void* take(std::size_t bytes) noexcept {
    bytes = round_up(bytes, alignof(std::max_align_t));
    if (last_ == nullptr || last_->bytes - last_->used < bytes) {
      const std::size_t wanted = round_up(bytes + sizeof(chunk), 4 * page_bytes());
      auto* const made = static_cast<chunk*>(sys::raw::map(wanted, PROT_READ | PROT_WRITE, 0));
      if (made == nullptr) {
        return nullptr;
      }
      *made = {last_, wanted, sizeof(chunk)};
      last_ = made;
    }
    void* const start = reinterpret_cast<char*>(last_) + last_->used;
    last_->used += bytes;
    return start;
  }

  [[nodiscard]] const char* copy(const char* text) noexcept {
    const std::size_t bytes = std::strlen(text) + 1;
    void* const start = take(bytes);
    return start == nullptr ? nullptr : static_cast<char*>(std::memcpy(start, text, bytes));
  }

  void give_back() noexcept {
    while (last_ != nullptr) {
      chunk* const before = last_->before;
      sys::raw::unmap(last_, last_->bytes);
      last_ = before;
    }
  }

 private:
  struct alignas(std::max_align_t) chunk {
    chunk* before;
    std::size_t bytes;
    std::size_t used;
  };
  chunk* last_ = nullptr;
};

} // namespace nodewise::agent
