// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What programs do with memory besides asking for it: each habit prints a checksum of its data, and
// the lines are the same whoever serves the memory.
//
//   habits              all of them; starts itself again as `habits child`
#include <array>
#include <atomic>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <thread>
#include <vector>

#include <malloc.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"
#include "pvalloc.h"

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::uint64_t sum(const void* start, std::size_t bytes) {
  const auto* const at = static_cast<const unsigned char*>(start);
  std::uint64_t total = 1469598103934665603U;
  for (std::size_t i = 0; i < bytes; i += 61) {
    total = (total ^ at[i]) * 1099511628211U;
  }
  return total;
}

void say(const char* habit, std::uint64_t value) {
  std::printf("%s %016llx\n", habit, static_cast<unsigned long long>(value));
  std::fflush(stdout);
}

unsigned char* filled(void* start, std::size_t bytes, unsigned seed) {
  CHECK(start != nullptr && start != MAP_FAILED);
  fill(static_cast<unsigned char*>(seen(start)), bytes, seed);
  return static_cast<unsigned char*>(start);
}

void wait_for(pid_t child, int expected) {
  int status = -1;
  CHECK(child > 0 && waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == expected);
}

void resizes() {
  unsigned char* p = filled(std::malloc(1000), 1000, 1);
  std::uint64_t total = 0;
  for (const std::size_t bytes :
       {5000UL, 70000UL, 3 * mib, 3 * mib + 10, 11 * mib, 2 * mib, 70000UL, 300UL, 4 * mib, 17UL}) {
    p = static_cast<unsigned char*>(std::realloc(p, bytes));
    CHECK(p != nullptr && malloc_usable_size(p) >= bytes);
    total = total * 31 + sum(p, bytes < 300 ? bytes : 300);
    fill(p, bytes, static_cast<unsigned>(bytes));
  }
  p = static_cast<unsigned char*>(reallocarray(p, 3, mib));
  say("realloc", total + sum(p, 17));
  std::free(p);
}

void aligns() {
  std::uint64_t total = 0;
  for (std::size_t alignment = 16; alignment <= 4 * mib; alignment *= 8) {
    void* made = nullptr;
    CHECK(posix_memalign(&made, alignment, 3 * mib) == 0);
    CHECK(reinterpret_cast<std::uintptr_t>(made) % alignment == 0);
    total += sum(filled(made, 3 * mib, static_cast<unsigned>(alignment)), 3 * mib);
    std::free(made);
    void* const pages = whole_pages(alignment);
    CHECK(reinterpret_cast<std::uintptr_t>(pages) % 4096 == 0);
    CHECK(malloc_usable_size(pages) >= 4096);
    std::free(pages);
  }
  say("memalign", total);
}

void maps() {
  constexpr int rights = PROT_READ | PROT_WRITE;
  constexpr int plain = MAP_PRIVATE | MAP_ANONYMOUS;
  unsigned char* p = filled(mmap(nullptr, 4 * mib, rights, plain, -1, 0), 4 * mib, 9);
  for (const std::size_t bytes : {6UL, 13UL, 12UL, 3UL, 8UL}) {
    p = static_cast<unsigned char*>(mremap(p, 4 * mib, bytes * mib, MREMAP_MAYMOVE));
    CHECK(p != MAP_FAILED && holds(p, 3 * mib, 9));
    p = static_cast<unsigned char*>(mremap(p, bytes * mib, 4 * mib, MREMAP_MAYMOVE));
    CHECK(p != MAP_FAILED);
  }
  CHECK(munmap(p + mib, mib) == 0);
  p = static_cast<unsigned char*>(mremap(p, mib, 2 * mib, 0)); // into the hole, where it is
  CHECK(p != MAP_FAILED && p[2 * mib - 1] == 0);
  CHECK(madvise(p, 2 * mib, MADV_DONTNEED) == 0 && p[5] == 0);
  say("mremap", sum(p, 4 * mib));
  CHECK(munmap(p, 4 * mib) == 0);
}

/// A child grows what it has inherited.
void inherits() {
  constexpr int plain = MAP_PRIVATE | MAP_ANONYMOUS;
  void* const made = mmap(nullptr, 4 * mib, PROT_READ | PROT_WRITE, plain, -1, 0);
  unsigned char* const map = filled(made, 4 * mib, 3);
  unsigned char* const heap = filled(std::malloc(4 * mib), 4 * mib, 4);
  const pid_t child = fork();
  if (child == 0) {
    fill(heap, 2 * mib, 5);
    auto* const grown = static_cast<unsigned char*>(std::realloc(heap, 9 * mib));
    auto* const moved = static_cast<unsigned char*>(mremap(map, 4 * mib, 9 * mib, MREMAP_MAYMOVE));
    CHECK(moved != MAP_FAILED);
    CHECK(grown != nullptr && holds(moved, 4 * mib, 3) && holds(grown, 2 * mib, 5));
    std::exit(7);
  }
  wait_for(child, 7);
  say("fork", sum(map, 4 * mib) ^ sum(heap, 4 * mib));
  munmap(map, 4 * mib);
  std::free(heap);
}

void hands_over() {
  std::array<std::atomic<unsigned char*>, 200> slots{};
  std::atomic<std::uint64_t> total{0};
  std::thread maker([&] {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      const std::size_t bytes = i % 3 == 0 ? 100000 + i : 200 + i;
      slots[i] = filled(std::malloc(bytes), bytes, static_cast<unsigned>(i));
    }
  });
  std::thread user([&] {
    for (std::size_t i = 0; i < slots.size(); ++i) {
      unsigned char* p = nullptr;
      while ((p = slots[i].exchange(nullptr)) == nullptr) {
        std::this_thread::yield();
      }
      total += sum(p, i % 3 == 0 ? 100000 + i : 200 + i);
      std::free(p);
    }
  });
  maker.join();
  user.join();
  say("threads", total);
}

int handler_calls = 0;
void* reserve = nullptr;
void give_up_reserve() {
  ++handler_calls;
  if (reserve == nullptr) {
    throw std::bad_alloc();
  }
  std::free(reserve);
  reserve = nullptr;
}

struct counted {
  static inline std::size_t live = 0;
  static void* operator new(std::size_t bytes) { return ++live, std::malloc(bytes); }
  static void operator delete(void* start) { --live, std::free(start); }
  static void* operator new[](std::size_t bytes) { return ++live, std::malloc(bytes + 8); }
  static void operator delete[](void* start) { --live, std::free(start); }
  std::array<unsigned char, 100000> bytes;
};

void news() {
  std::uint64_t total = 0;
  {
    auto one = std::make_unique<counted>();
    std::unique_ptr<counted[]> many(new counted[5]);
    fill(one->bytes.data(), one->bytes.size(), 1);
    fill(many[4].bytes.data(), many[4].bytes.size(), 2);
    total = counted::live * 1000 + sum(many[4].bytes.data(), 1000);
  }
  CHECK(counted::live == 0);
  reserve = std::malloc(2 * mib);
  const std::new_handler before = std::set_new_handler(give_up_reserve);
  int thrown = 0;
  for (int i = 0; i < 2; ++i) {
    try {
      volatile std::size_t too_many = PTRDIFF_MAX - 4096;
      ::operator delete(seen(::operator new(too_many)));
    } catch (const std::bad_alloc&) {
      ++thrown;
    }
  }
  CHECK(::operator new(std::size_t{PTRDIFF_MAX} - 4096, std::nothrow) == nullptr);
  std::set_new_handler(before);
  say("new", total * 10000 + static_cast<unsigned>(handler_calls * 100 + thrown));
}

std::size_t address_space() {
  std::size_t pages = 0;
  std::FILE* const file = std::fopen("/proc/self/statm", "r");
  CHECK(file != nullptr && std::fscanf(file, "%zu", &pages) == 1);
  std::fclose(file);
  return pages * 4096;
}

/// With little address space left, what is too large is refused and the rest is served.
void limits() {
  const pid_t child = fork();
  if (child == 0) {
    const rlim_t limit = address_space() + 96 * mib;
    const struct rlimit both{limit, limit};
    CHECK(setrlimit(RLIMIT_AS, &both) == 0);
    errno = 0;
    CHECK(seen(std::malloc(200 * mib)) == nullptr && errno == ENOMEM);
    errno = 0;
    CHECK(seen(std::calloc(200, mib)) == nullptr && errno == ENOMEM);
    unsigned char* p = filled(std::malloc(16 * mib), 16 * mib, 8);
    auto* const still = static_cast<unsigned char*>(seen(p));
    CHECK(std::realloc(p, 300 * mib) == nullptr && holds(still, 16 * mib, 8));
    p = still;
    std::vector<void*> small;
    for (int i = 0; i < 20000; ++i) {
      small.push_back(filled(std::malloc(600), 600, 1));
    }
    for (void* const each : small) {
      std::free(each);
    }
    p = static_cast<unsigned char*>(std::realloc(p, 20 * mib));
    CHECK(p != nullptr && holds(p, 16 * mib, 8));
    std::free(p);
    std::exit(9);
  }
  wait_for(child, 9);
  say("limit", 1);
}

void starts_others() {
  std::fflush(stdout);
  const auto start = [](pid_t child) {
    if (child == 0) {
      execl("/proc/self/exe", "habits", "child", nullptr);
      _exit(127);
    }
    wait_for(child, 5);
  };
  void* const kept = seen(std::malloc(3 * mib));
  start(fork());
  start(vfork());
  std::free(kept);
}

} // namespace

int main(int argc, char**) {
  if (argc > 1) {
    unsigned char* const p = filled(std::malloc(5 * mib), 5 * mib, 11);
    say("child", sum(p, 5 * mib));
    return 5;
  }
  resizes();
  aligns();
  maps();
  inherits();
  hands_over();
  news();
  limits();
  starts_others();
  return 0;
}
