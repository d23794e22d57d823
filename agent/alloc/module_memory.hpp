// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Memory of a module, such as its static arrays, and for the data about it.
#pragma once

#include <algorithm>
#include <cstring>
#include <span>

#include <link.h>

#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

/// The part of a module's memory that is zero at first and not from its file: the bytes after the
/// file's bytes in a writable segment.
struct zero_memory {
  static constexpr std::size_t most = 4;
  struct range {
    std::uintptr_t begin;
    std::uintptr_t end;
  } ranges[most] = {};
  std::size_t count = 0;

  explicit zero_memory(const dl_phdr_info& module) noexcept {
    for (const ElfW(Phdr) & segment : std::span(module.dlpi_phdr, module.dlpi_phnum)) {
      if (segment.p_type == PT_LOAD && (segment.p_flags & PF_W) != 0 &&
          segment.p_memsz > segment.p_filesz && count < most) {
        const std::uintptr_t start = module.dlpi_addr + segment.p_vaddr;
        ranges[count++] = {start + segment.p_filesz, start + segment.p_memsz};
      }
    }
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept {
    std::uint64_t sum = 0;
    for (const range& each : ranges) { // those after the first `count` are empty
      sum += each.end - each.begin;
    }
    return sum;
  }

  [[nodiscard]] bool holds(std::uintptr_t begin, std::uint64_t bytes) const noexcept {
    return std::any_of(std::begin(ranges), std::end(ranges), [begin, bytes](const range& each) {
      return begin >= each.begin && begin < each.end && bytes <= each.end - begin;
    });
  }
};

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
