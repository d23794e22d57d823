// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Random operations of malloc's family, of new and delete and of mmap on four threads: sizes are
// log-uniform from 1 B to 4 MiB, blocks change hands, processes fork. Every block carries a pattern
// that is checked when it is resized, moved or freed. Knows nothing of the agent, holds without it.
//
//   torture SEED OPERATIONS      a seed is always the same operations in each thread
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pvalloc.h"

namespace {

constexpr std::size_t page = 4096;
constexpr std::size_t stride = 16 * page;
constexpr std::size_t thread_count = 4;

enum class from : std::uint8_t { nowhere, c, one, array, aligned, mapping };

/// `offset` is where a mapping began before its head was unmapped: its pattern goes by that.
struct block {
  from origin = from::nowhere;
  unsigned char* start = nullptr;
  std::size_t bytes = 0;
  std::size_t offset = 0;
  std::size_t alignment = 0;
  unsigned seed = 0;
  bool shared = false;
};

/// Blocks on their way from one thread to another.
std::array<std::atomic<block*>, 64> market{};

/// The places that carry the pattern: the first 64 bytes of memory that is no mapping, and one byte
/// in each stride.
template <class Each>
void at_each_mark(const block& of, std::size_t bytes, Each each) {
  for (std::size_t at = 0; of.origin != from::mapping && at < bytes && at < 64; ++at) {
    each(at);
  }
  for (std::size_t at = (stride - of.offset % stride) % stride; at < bytes; at += stride) {
    each(at);
  }
}

void stamp(block& of, unsigned seed) {
  of.seed = seed;
  at_each_mark(of, of.bytes, [&](std::size_t at) { of.start[at] = pattern(at + of.offset, seed); });
}

void check(const block& of, std::size_t kept) {
  at_each_mark(of, kept,
               [&](std::size_t at) { CHECK(of.start[at] == pattern(at + of.offset, of.seed)); });
}

void check_zero(const unsigned char* start, std::size_t bytes) {
  for (std::size_t at = 0; at < bytes; at += at < 256 ? 1 : 2 * page) {
    CHECK(start[at] == 0);
  }
}

class worker {
 public:
  explicit worker(unsigned seed) : state_(seed * 0x9e3779b97f4a7c15U + 1) {}

  void run(std::size_t operations) {
    for (std::size_t i = 0; i < operations; ++i) {
      step();
      if (i % 20000 == 19999) {
        fork_and_check();
      }
    }
    for (block& each : blocks_) {
      release(each);
    }
  }

 private:
  std::uint64_t next() {
    state_ ^= state_ << 13;
    state_ ^= state_ >> 7;
    state_ ^= state_ << 17;
    return state_ * 0x2545f4914f6cdd1dU >> 16;
  }
  std::size_t below(std::size_t limit) { return static_cast<std::size_t>(next() % limit); }
  unsigned seed() { return static_cast<unsigned>(next() & 0xffff); }

  /// Log-uniform: as many from 1 to 2 bytes as from 2 to 4 MiB.
  std::size_t size() {
    const double exponent = static_cast<double>(next() % 65536) / 65536 * 22;
    return static_cast<std::size_t>(std::exp2(exponent));
  }
  std::size_t alignment() { return std::size_t{16} << (below(16) == 0 ? below(18) : below(9)); }

  void step() {
    block& one = blocks_[below(blocks_.size())];
    const std::size_t choice = below(100);
    if (one.origin == from::nowhere) {
      choice < 75 ? allocate(one) : map(one);
    } else if (choice < 45) {
      release(one);
    } else if (choice < 55) {
      trade(one);
    } else if (one.origin == from::c) {
      resize(one);
    } else if (one.origin == from::mapping) {
      change_mapping(one);
    } else {
      check(one, one.bytes);
      stamp(one, seed());
    }
  }

  void allocate(block& into) {
    into = {from::c, nullptr, size(), 0, alignment()};
    void* made = nullptr;
    const std::size_t rounded = (into.bytes + into.alignment - 1) & ~(into.alignment - 1);
    switch (below(9)) {
    case 0:
      made = std::calloc(into.bytes / 8 + 1, 8);
      check_zero(static_cast<unsigned char*>(made), into.bytes);
      break;
    case 1:
      CHECK(posix_memalign(&made, into.alignment, into.bytes) == 0);
      CHECK(reinterpret_cast<std::uintptr_t>(made) % into.alignment == 0);
      break;
    case 2:
      made = std::aligned_alloc(into.alignment, rounded);
      CHECK(reinterpret_cast<std::uintptr_t>(made) % into.alignment == 0);
      break;
    case 3:
      made = whole_pages(into.bytes);
      CHECK(reinterpret_cast<std::uintptr_t>(made) % page == 0);
      break;
    case 4:
      made = ::operator new(into.bytes);
      into.origin = from::one;
      break;
    case 5:
      made = ::operator new[](into.bytes, std::nothrow);
      into.origin = from::array;
      break;
    case 6:
      made = ::operator new(into.bytes, std::align_val_t{into.alignment});
      CHECK(reinterpret_cast<std::uintptr_t>(made) % into.alignment == 0);
      into.origin = from::aligned;
      break;
    default:
      made = std::malloc(into.bytes);
      break;
    }
    CHECK(made != nullptr && malloc_usable_size(made) >= into.bytes);
    into.start = static_cast<unsigned char*>(made);
    stamp(into, seed());
  }

  void map(block& into) {
    into = {from::mapping, nullptr, (size() + page - 1) & ~(page - 1)};
    into.shared = below(8) == 0;
    const int sharing = into.shared ? MAP_SHARED : MAP_PRIVATE;
    const int more = below(8) == 0 ? MAP_NORESERVE : below(8) == 0 ? MAP_POPULATE : 0;
    void* const made =
        mmap(nullptr, into.bytes, PROT_READ | PROT_WRITE, sharing | MAP_ANONYMOUS | more, -1, 0);
    CHECK(made != MAP_FAILED);
    into.start = static_cast<unsigned char*>(made);
    check_zero(into.start, into.bytes);
    stamp(into, seed());
  }

  void release(block& one) {
    check(one, one.bytes);
    switch (one.origin) {
    case from::nowhere:
      return;
    case from::c:
      std::free(one.start);
      break;
    case from::one:
      if (below(2) == 0) {
        ::operator delete(one.start);
      } else {
        ::operator delete(one.start, one.bytes);
      }
      break;
    case from::array:
      ::operator delete[](one.start);
      break;
    case from::aligned:
      ::operator delete(one.start, std::align_val_t{one.alignment});
      break;
    case from::mapping:
      CHECK(munmap(one.start, one.bytes) == 0);
      break;
    }
    one = {};
  }

  /// Leaves the block to whoever comes next, and takes what somebody has left.
  void trade(block& one) {
    auto* const mine = new block(one);
    block* const others = market[below(market.size())].exchange(mine);
    one = others == nullptr ? block{} : *others;
    delete others;
    check(one, one.bytes);
  }

  void resize(block& one) {
    const std::size_t bytes = below(3) == 0 ? one.bytes + one.bytes / 16 + 1 : size();
    check(one, one.bytes);
    auto* const moved = static_cast<unsigned char*>(std::realloc(one.start, bytes));
    CHECK(moved != nullptr && malloc_usable_size(moved) >= bytes);
    one.start = moved;
    const std::size_t kept = one.bytes < bytes ? one.bytes : bytes;
    check(one, kept);
    one.bytes = bytes;
    stamp(one, seed());
  }

  std::size_t pages(std::size_t limit_bytes) { return below(limit_bytes / page) * page; }

  void change_mapping(block& one) {
    check(one, one.bytes);
    switch (below(6)) {
    case 0:
      cut_head(one);
      break;
    case 1:
      cut_tail(one);
      break;
    case 2:
      renew_part(one);
      break;
    case 3:
      move(one);
      break;
    default:
      grow(one);
      break;
    }
    stamp(one, seed());
  }

  void cut_head(block& one) {
    const std::size_t part = pages(one.bytes);
    CHECK(part == 0 || munmap(one.start, part) == 0);
    one.start += part;
    one.offset += part;
    one.bytes -= part;
    check(one, one.bytes);
  }

  void cut_tail(block& one) {
    const std::size_t kept = pages(one.bytes) + page;
    CHECK(kept == one.bytes || munmap(one.start + kept, one.bytes - kept) == 0);
    one.bytes = kept;
    check(one, one.bytes);
  }

  /// New memory over a part of the old, and the rest behind it goes.
  void renew_part(block& one) {
    const std::size_t part = pages(one.bytes);
    void* const made = mmap(one.start + part, page, PROT_READ | PROT_WRITE,
                            MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    CHECK(made == one.start + part);
    check_zero(one.start + part, page);
    check(one, part);
    const std::size_t behind = part + page;
    CHECK(behind == one.bytes || munmap(one.start + behind, one.bytes - behind) == 0);
    one.bytes = part == 0 ? page : part;
    CHECK(part == 0 || munmap(one.start + part, page) == 0);
    one.shared = one.shared && part != 0;
  }

  /// To a place of the program's choice.
  void move(block& one) {
    void* const there = mmap(nullptr, one.bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    CHECK(there != MAP_FAILED);
    CHECK(mremap(one.start, one.bytes, one.bytes, MREMAP_MAYMOVE | MREMAP_FIXED, there) == there);
    one.start = static_cast<unsigned char*>(there);
    check(one, one.bytes);
  }

  void grow(block& one) {
    if (one.shared) {
      return; // there would be nothing behind its end
    }
    const std::size_t bytes = (size() + page - 1) & ~(page - 1);
    void* const moved = mremap(one.start, one.bytes, bytes, MREMAP_MAYMOVE);
    if (moved == MAP_FAILED) {
      std::fprintf(stderr, "mremap from %zu to %zu bytes, offset %zu: %s\n", one.bytes, bytes,
                   one.offset, strerror(errno));
      std::abort();
    }
    one.start = static_cast<unsigned char*>(moved);
    check(one, one.bytes < bytes ? one.bytes : bytes);
    if (bytes > one.bytes) {
      check_zero(one.start + one.bytes, bytes - one.bytes);
    }
    one.bytes = bytes;
  }

  /// A child has the blocks of all threads as they were; it uses its own thread's.
  void fork_and_check() {
    const pid_t child = fork();
    if (child == 0) {
      for (block& each : blocks_) {
        check(each, each.bytes);
      }
      for (std::size_t i = 0; i < 300; ++i) {
        step_without_others();
      }
      _exit(42);
    }
    int status = 0;
    CHECK(child > 0 && waitpid(child, &status, 0) == child);
    CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 42);
  }

  void step_without_others() {
    block& one = blocks_[below(blocks_.size())];
    if (one.origin == from::nowhere) {
      allocate(one);
    } else if (one.origin == from::c && below(2) == 0) {
      resize(one);
    } else if (one.origin != from::mapping) {
      release(one);
    }
  }

  std::uint64_t state_;
  std::array<block, 128> blocks_{};
};

} // namespace

int main(int argc, char** argv) {
  CHECK(argc == 3);
  const auto seed = static_cast<unsigned>(std::atoi(argv[1]));
  const auto operations = static_cast<std::size_t>(std::atol(argv[2]));
  std::vector<std::thread> threads;
  for (unsigned k = 0; k < thread_count; ++k) {
    threads.emplace_back([=] { worker(seed * 16 + k + 1).run(operations / thread_count); });
  }
  for (std::thread& each : threads) {
    each.join();
  }
  std::puts("ok");
  return 0;
}
