// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/pieces.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>

#include "agent/own_descriptors.hpp"
#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// A line of /proc/self/maps: "begin-end rights offset device inode path".
struct mapping {
  std::uintptr_t begin;
  std::uintptr_t end;
  char rights[4];
  bool has_file;

  explicit mapping(char* line) noexcept {
    begin = std::strtoul(line, &line, 16);
    end = std::strtoul(line + 1, &line, 16);
    std::memcpy(rights, line + 1, sizeof rights);
    (void)std::strtoul(line + 1 + sizeof rights, &line, 16); // offset
    const char* const device_end = std::strchr(line + 1, ' ');
    has_file = device_end == nullptr || std::strtoul(device_end, nullptr, 10) != 0;
  }
};

/// The mappings in a range.
class pieces {
 public:
  pieces(std::uintptr_t begin, std::uintptr_t end) noexcept : begin_(begin), end_(end) {
    constexpr std::size_t most = std::size_t{1} << 20; // more than a process may have
    const std::size_t pages = (end - begin) / page_bytes();
    mapped_bytes_ = round_up((pages < most ? pages : most) * sizeof *ends_, page_bytes());
    ends_ = static_cast<std::uintptr_t*>(
        sys::raw::map(mapped_bytes_, PROT_READ | PROT_WRITE, MAP_NORESERVE));
    if (ends_ != nullptr) {
      auto work = [this] { read(); };
      with_own_descriptors(work);
    }
  }
  pieces(const pieces&) = delete;
  pieces& operator=(const pieces&) = delete;
  ~pieces() {
    if (ends_ != nullptr) {
      sys::raw::unmap(ends_, mapped_bytes_);
    }
  }

  /// Whether the mappings cover the whole range and could be one mapping.
  [[nodiscard]] bool alike() const noexcept { return alike_ && count_ != 0 && reached() == end_; }
  /// Whether the last mapping ends at the end of the range.
  [[nodiscard]] bool ends_a_mapping() const noexcept { return last_end_ == end_; }
  [[nodiscard]] std::size_t count() const noexcept { return count_; }
  [[nodiscard]] std::uintptr_t begin(std::size_t i) const noexcept {
    return i == 0 ? begin_ : ends_[i - 1];
  }
  [[nodiscard]] std::size_t bytes(std::size_t i) const noexcept { return ends_[i] - begin(i); }

 private:
  [[nodiscard]] std::uintptr_t reached() const noexcept { return begin(count_); }

  void read() noexcept {
    const long file =
        sys::raw::call(SYS_openat, AT_FDCWD, "/proc/self/maps", O_RDONLY | O_CLOEXEC, 0);
    if (file < 0) {
      return;
    }
    char text[1024]; // room for some lines; only long paths are cut, at their ends
    std::size_t held = 0;
    bool in_path = false;
    for (long got = 1; got > 0;) {
      got = sys::raw::call(SYS_read, file, text + held, sizeof text - 1 - held);
      held += static_cast<std::size_t>(got > 0 ? got : 0);
      text[held] = '\0';
      held = take_lines(text, held, in_path);
    }
    sys::raw::call(SYS_close, file);
  }

  /// Moves the rest of the last line to the front, and returns its length.
  std::size_t take_lines(char* text, std::size_t held, bool& in_path) noexcept {
    constexpr std::ptrdiff_t longest_without_path = 128;
    char* line = text;
    char* const end = text + held;
    while (line != end) {
      char* const newline = std::find(line, end, '\n');
      if (newline == end && !in_path && end - line < longest_without_path) {
        break;
      }
      if (!in_path) {
        take(mapping(line));
      }
      in_path = newline == end;
      line = in_path ? end : newline + 1;
    }
    return static_cast<std::size_t>(std::copy(line, end, text) - text);
  }

  void take(const mapping& each) noexcept {
    if (each.end <= begin_ || each.begin >= end_) {
      return;
    }
    if (count_ == 0) {
      std::memcpy(rights_, each.rights, sizeof rights_);
    }
    alike_ = alike_ && !each.has_file && (each.begin == reached() || each.begin < begin_) &&
             std::memcmp(rights_, each.rights, sizeof rights_) == 0 &&
             (count_ + 1) * sizeof *ends_ <= mapped_bytes_;
    if (alike_) {
      last_end_ = each.end;
      ends_[count_++] = each.end < end_ ? each.end : end_;
    }
  }

  std::uintptr_t begin_;
  std::uintptr_t end_;
  std::uintptr_t last_end_ = 0;
  std::size_t count_ = 0;
  char rights_[4] = {};
  bool alike_ = true;
  std::uintptr_t* ends_ = nullptr;
  std::size_t mapped_bytes_ = 0;
};

/// Moves all mappings to `target`, the last one with room for `more` bytes. If one cannot move,
/// those before it are moved back.
bool move_all(remap_function& remap, const pieces& all, char* target, std::size_t more,
              int flags) noexcept {
  const auto at = [&](std::size_t i) { return target + (all.begin(i) - all.begin(0)); };
  for (std::size_t i = 0; i < all.count(); ++i) {
    const std::size_t wanted = all.bytes(i) + (i + 1 == all.count() ? more : 0);
    if (remap(reinterpret_cast<void*>(all.begin(i)), all.bytes(i), wanted, flags, at(i)) !=
        MAP_FAILED) {
      continue;
    }
    const int why = errno;
    while (i-- > 0) {
      (void)remap(at(i), all.bytes(i), all.bytes(i), MREMAP_MAYMOVE | MREMAP_FIXED,
                  reinterpret_cast<void*>(all.begin(i)));
    }
    errno = why;
    return false;
  }
  return true;
}

} // namespace

void* remap_pieces(remap_function& remap, void* old, std::size_t old_bytes, std::size_t bytes,
                   int flags, void* address) noexcept {
  const std::size_t now = round_up(bytes, page_bytes());
  const std::size_t before = round_up(old_bytes, page_bytes());
  const auto begin = reinterpret_cast<std::uintptr_t>(old);
  // The kernel has already unmapped the part that is cut off.
  const pieces all(begin, begin + (before < now ? before : now));
  if (!all.alike()) {
    errno = EFAULT;
    return MAP_FAILED;
  }
  const std::size_t more = before < now ? now - before : 0;
  const std::size_t last = all.count() - 1;
  const bool fixed = (flags & MREMAP_FIXED) != 0;
  if (!fixed && more != 0 && all.ends_a_mapping() &&
      remap(reinterpret_cast<void*>(all.begin(last)), all.bytes(last), all.bytes(last) + more, 0,
            nullptr) != MAP_FAILED) {
    return old;
  }
  if ((flags & MREMAP_MAYMOVE) == 0) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  void* const target = fixed ? address : sys::raw::map(now, PROT_NONE, MAP_NORESERVE);
  if (target == nullptr) {
    errno = ENOMEM;
    return MAP_FAILED;
  }
  if (move_all(remap, all, static_cast<char*>(target), more, flags | MREMAP_FIXED)) {
    return target;
  }
  if (!fixed) {
    sys::raw::unmap(target, now);
  }
  return MAP_FAILED;
}

} // namespace nodewise::agent
