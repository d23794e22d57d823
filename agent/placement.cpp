// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/placement.hpp"

#include <atomic>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <nodewise/arithmetic.hpp>

#include "sys/raw.hpp"

namespace nodewise::agent {

namespace {

/// A number or a word from /proc or /sys; empty where there is none.
struct small_text {
  char text[128] = {};

  explicit small_text(const char* path) noexcept {
    const int file = ::open(path, O_RDONLY | O_CLOEXEC);
    if (file >= 0) {
      const ssize_t got = ::read(file, text, sizeof text - 1);
      text[got > 0 ? got : 0] = '\0';
      ::close(file);
    }
  }
};

/// Read once, when the first large object is made; several threads may read the same.
class system_facts {
 public:
  /// A huge page if the kernel uses them unasked, else 0.
  [[nodiscard]] std::size_t huge_page_bytes() noexcept { return read(), huge_page_bytes_; }
  /// Mappings that policies may make. Past vm.max_map_count the program's own malloc and mmap fail.
  [[nodiscard]] std::size_t extent_limit() noexcept { return read(), extent_limit_; }

 private:
  void read() noexcept {
    if (known_.load(std::memory_order_acquire)) {
      return;
    }
    const small_text thp("/sys/kernel/mm/transparent_hugepage/enabled");
    if (std::strstr(thp.text, "[always]") != nullptr) {
      const small_text size("/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
      huge_page_bytes_ = std::strtoul(size.text, nullptr, 10);
    }
    const small_text maps("/proc/sys/vm/max_map_count");
    const unsigned long max_map_count = std::strtoul(maps.text, nullptr, 10);
    extent_limit_ = (max_map_count == 0 ? 65530 : max_map_count) / 4;
    known_.store(true, std::memory_order_release);
  }

  std::atomic<bool> known_{false};
  std::atomic<std::size_t> huge_page_bytes_{0};
  std::atomic<std::size_t> extent_limit_{0};
};

constinit system_facts facts;
constinit std::atomic<std::size_t> extents_in_use{0};

/// One policy an extent. Returns how many, or -errno.
long bind_extents(const settings& asked, const object& what) noexcept {
  constexpr std::size_t word_bits = sizeof(unsigned long) * 8;
  long extents = 0;
  std::size_t begin = 0;
  for (std::size_t run = 0; run < asked.runs; ++run) {
    const bool last = run + 1 == asked.runs;
    const std::size_t end =
        last ? what.mapped_bytes : end_of_run(asked, run, what.placed_bytes, what.granule_bytes);
    if (end == begin) {
      continue;
    }
    const auto node = static_cast<std::size_t>(asked.run[run].node);
    unsigned long mask[NODEWISE_AGENT_MAX_NODES / word_bits] = {};
    mask[node / word_bits] = 1UL << (node % word_bits);
    const long answer = sys::raw::mbind(what.start + begin, end - begin, sys::policy::preferred,
                                        mask, node / word_bits + 1, 0);
    if (answer < 0) {
      return answer;
    }
    ++extents;
    begin = end;
  }
  return extents;
}

} // namespace

std::size_t page_bytes() noexcept {
  static constinit std::atomic<std::size_t> known{0};
  std::size_t bytes = known.load(std::memory_order_relaxed);
  if (bytes == 0) {
    bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    known.store(bytes, std::memory_order_relaxed);
  }
  return bytes;
}

std::size_t end_of_run(const settings& asked, std::size_t run, std::size_t bytes,
                       std::size_t granule_bytes) noexcept {
  if (run + 1 == asked.runs) {
    return bytes;
  }
  const std::size_t granules = arithmetic::pages_for(bytes, granule_bytes);
  const std::size_t end =
      arithmetic::blocked(asked.run[run + 1].first_slot, granules, asked.slots).first *
      granule_bytes;
  return end < bytes ? end : bytes;
}

std::size_t choose_granule(const settings& asked, std::size_t bytes) noexcept {
  const std::size_t huge = facts.huge_page_bytes();
  const bool worth_it = huge != 0 && asked.slots != 0 && !asked.observe &&
                        bytes / huge / asked.slots >= arithmetic::min_huge_pages_per_block;
  return worth_it ? huge : page_bytes();
}

char* map(std::size_t bytes, std::size_t alignment) noexcept {
  const std::size_t slack = alignment > page_bytes() ? alignment - page_bytes() : 0;
  if (bytes > PTRDIFF_MAX - page_bytes() || slack > PTRDIFF_MAX - page_bytes() - bytes) {
    return nullptr;
  }
  bytes = round_up(bytes, page_bytes());
  void* const mapped =
      ::mmap(nullptr, bytes + slack, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) {
    return nullptr;
  }
  char* const first = static_cast<char*>(mapped);
  const std::size_t past = reinterpret_cast<std::size_t>(first) & (alignment - 1);
  const std::size_t head = slack == 0 || past == 0 ? 0 : alignment - past;
  if (head != 0) {
    ::munmap(first, head);
  }
  if (head != slack) {
    ::munmap(first + head + bytes, slack - head);
  }
  return first + head;
}

void place(const settings& asked, object& what) noexcept {
  if (asked.runs == 0 || asked.observe) {
    return;
  }
  if (extents_in_use.fetch_add(asked.runs) + asked.runs > facts.extent_limit()) {
    extents_in_use -= asked.runs;
    what.flags |= NODEWISE_AGENT_MAP_LIMIT;
    return;
  }
  const long extents = bind_extents(asked, what);
  if (extents < 0) {
    extents_in_use -= asked.runs;
    what.refused_errno = static_cast<int>(-extents);
    (void)sys::raw::mbind(what.start, what.mapped_bytes, sys::policy::system_default, nullptr, 0,
                          0);
    return;
  }
  what.extents = static_cast<unsigned>(extents);
  what.flags |= NODEWISE_AGENT_PLACED;
  extents_in_use -= asked.runs - what.extents;
}

void unmap(char* start, std::size_t bytes) noexcept {
  const int kept = errno; // free() leaves it alone
  ::munmap(start, bytes);
  errno = kept;
}

void give_back_extents(const object& what) noexcept {
  extents_in_use -= what.extents;
}

} // namespace nodewise::agent
