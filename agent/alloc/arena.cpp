// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/alloc/arena.hpp"

#include <sys/mman.h>

#include "agent/page.hpp"
#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

constexpr std::size_t commit_bytes = std::size_t{1} << 20;
// How often to check whether a site frees its blocks soon: by blocks for small ones, which come in
// hundreds, and by bytes for large ones, which would take much memory until then.
constexpr std::uint32_t blocks_a_look = 256;
constexpr std::size_t bytes_a_look = std::size_t{256} << 10;
constexpr std::uint64_t in_use = 0x6e6f646577697365; ///< any word that no freed block has
constexpr auto relaxed = std::memory_order_relaxed;

/// Precedes each block. A block never changes its size.
struct header {
  std::uint64_t state; ///< in_use, or 0 when it is free
  std::uint64_t bytes; ///< that the program may use
};
static_assert(sizeof(header) == arena::header_bytes);

header* header_of(const void* block) noexcept {
  return reinterpret_cast<header*>(reinterpret_cast<std::uintptr_t>(block)) - 1;
}

} // namespace

std::size_t arena::side_bytes(std::size_t bytes) noexcept {
  return bytes / page_bytes() * sizeof(std::uint32_t) +
         (bytes / unit_bytes + 1) * sizeof(std::atomic<std::uint32_t>);
}

void arena::open(char* space, std::size_t bytes, void* side, std::size_t begin,
                 room earlier) noexcept {
  space_ = space;
  bytes_ = bytes;
  begin_ = begin;
  // Threads that request blocks at once may lose each other's counts.
  if (earlier.bytes > bytes / 2 || earlier.blocks == 0) {
    earlier = {};
  }
  earlier_ = earlier.blocks;
  const std::size_t top = begin + earlier.bytes;
  top_.store(top, relaxed);
  blocks_.store(earlier.blocks, relaxed);
  first_block_ = static_cast<std::uint32_t*>(side);
  for (; numbered_ * page_bytes() < top; ++numbered_) {
    const std::size_t offset = numbered_ * page_bytes();
    first_block_[numbered_] = static_cast<std::uint32_t>(
        offset <= begin ? 0
                        : ((offset - begin) * earlier.blocks + earlier.bytes - 1) / earlier.bytes);
  }
  live_ = reinterpret_cast<std::atomic<std::uint32_t>*>(first_block_ + bytes / page_bytes());
  live_[top / unit_bytes].store(1, relaxed);
  owner_ = ::pthread_self();
}

bool arena::commit(std::size_t end) noexcept {
  if (end <= committed_) {
    return true;
  }
  std::size_t wanted = round_up(end, commit_bytes);
  wanted = wanted < bytes_ ? wanted : bytes_;
  if (end > wanted ||
      sys::raw::protect(space_ + committed_, wanted - committed_, PROT_READ | PROT_WRITE) < 0) {
    return false;
  }
  committed_ = wanted;
  return true;
}

void arena::number_pages(std::size_t offset) noexcept {
  for (; numbered_ * page_bytes() <= offset; ++numbered_) {
    first_block_[numbered_] = blocks_.load(relaxed);
  }
}

void* arena::allocate(std::size_t bytes) noexcept {
  const std::size_t begin = top_.load(relaxed);
  const std::size_t length = bytes_of_block(bytes);
  const std::size_t end = begin + length;
  const std::uint32_t count = blocks_.load(relaxed);
  const bool looks =
      count % blocks_a_look == blocks_a_look - 1 || begin / bytes_a_look != end / bytes_a_look;
  const bool dwindles = looks && freed() > 1 + own_blocks() / 4; // one may be a temporary
  if (closed() || dwindles || count == UINT32_MAX || length > bytes_ || !commit(end)) {
    close();
    return nullptr;
  }
  number_pages(begin);
  for (std::size_t unit = begin / unit_bytes; unit <= (end - 1) / unit_bytes; ++unit) {
    live_[unit].fetch_add(unit == begin / unit_bytes ? 1 : 2, relaxed); // plus 1 while it fills up
  }
  for (std::size_t unit = begin / unit_bytes; unit < end / unit_bytes; ++unit) {
    drop(unit);
  }
  if (end % unit_bytes == 0) {
    live_[end / unit_bytes].fetch_add(1, relaxed);
  }
  auto* const head = reinterpret_cast<header*>(space_ + begin);
  *head = {in_use, length - header_bytes};
  blocks_.store(count + 1, std::memory_order_release);
  top_.store(end, std::memory_order_release);
  return head + 1;
}

void arena::shrink() noexcept {
  close();
  const std::size_t kept = round_up(used_bytes() + unit_bytes, commit_bytes);
  if (kept >= committed_ && kept < bytes_) {
    sys::raw::unmap(space_ + kept, bytes_ - kept);
    bytes_ = kept;
  }
}

bool arena::release(void* block) noexcept {
  header* const head = header_of(block);
  std::uint64_t expected = in_use;
  if (!__atomic_compare_exchange_n(&head->state, &expected, 0, false, __ATOMIC_ACQ_REL,
                                   __ATOMIC_RELAXED)) {
    return false;
  }
  const auto begin = static_cast<std::size_t>(reinterpret_cast<char*>(head) - space_);
  const std::size_t end = begin + header_bytes + head->bytes;
  freed_.fetch_add(1, relaxed);
  // The last block of a unit that is freed also frees the memory of the header.
  for (std::size_t unit = begin / unit_bytes; unit <= (end - 1) / unit_bytes; ++unit) {
    drop(unit);
  }
  return true;
}

void arena::drop(std::size_t unit) noexcept {
  if (live_[unit].fetch_sub(1, std::memory_order_acq_rel) == 1) {
    (void)sys::raw::madvise(space_ + unit * unit_bytes, unit_bytes, MADV_DONTNEED);
  }
}

std::size_t arena::usable_bytes(const void* block) noexcept {
  return header_of(block)->bytes;
}

} // namespace nodewise::agent
