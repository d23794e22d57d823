// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The kernels and the chase of `nodewise measure` alone, for bench/kernels.py: one kernel on memory
// of its own, printed as JSON. usage: kernels KERNEL|chase THREADS BYTES base|huge SWEEPS
//
// Threads are on processors 0, 1, ...; each fills its part. `whole` is the rate of all sweeps
// together, as likwid-bench tells it, `best` and `median` are those of sweeps between barriers, as
// in STREAM.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include <sched.h>
#include <sys/mman.h>

#include "measure/chain.hpp"
#include "measure/kernels.hpp"

namespace {

using namespace nodewise::measure;

constexpr std::size_t huge_bytes = std::size_t{2} << 20;
/// Between the starts of two arrays, beyond whole pages: no store has the low address bits of a
/// load that is under way.
constexpr std::size_t stagger_bytes = 17 * line_bytes;

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

[[noreturn]] void give_up(const char* why) {
  std::fprintf(stderr, "kernels: %s\n", why);
  std::exit(1);
}

std::byte* map_pages(std::size_t bytes, bool huge) {
  const std::size_t whole = (bytes / huge_bytes + 2) * huge_bytes;
  void* const start =
      mmap(nullptr, whole, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (start == MAP_FAILED)
    give_up("no memory");
  if (madvise(start, whole, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) != 0)
    give_up("madvise refused");
  const auto address = reinterpret_cast<std::uintptr_t>(start);
  return static_cast<std::byte*>(start) + (huge_bytes - address % huge_bytes) % huge_bytes;
}

void pin(unsigned processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0)
    give_up("sched_setaffinity refused");
}

class spin_barrier {
 public:
  explicit spin_barrier(unsigned threads) : threads_(threads) {}
  void wait() {
    const unsigned turn = turn_.load();
    if (waiting_.fetch_add(1) + 1 == threads_) {
      waiting_.store(0);
      turn_.store(turn + 1);
      return;
    }
    while (turn_.load(std::memory_order_acquire) == turn)
      ;
  }

 private:
  unsigned threads_;
  std::atomic<unsigned> waiting_{0};
  std::atomic<unsigned> turn_{0};
};

operands part_of(const operands& all, unsigned thread, unsigned threads) {
  const std::size_t lines = all.elements / 8;
  const std::size_t first = lines * thread / threads * 8;
  operands part = all;
  part.elements = lines * (thread + 1) / threads * 8 - first;
  for (double*& array : part.arrays)
    array = array == nullptr ? nullptr : array + first;
  return part;
}

int run_kernel(const kernel& k, unsigned threads, std::size_t bytes, bool huge, unsigned sweeps) {
  operands all;
  all.elements = bytes / k.arrays / 64 * 8;
  const std::size_t array_bytes = all.elements * sizeof(double) + stagger_bytes;
  std::byte* const start = map_pages(array_bytes * k.arrays + huge_bytes * k.arrays, huge);
  for (unsigned i = 0; i < k.arrays; ++i) {
    const std::size_t pages = (all.elements * sizeof(double) / 4096 + 1) * 4096;
    all.arrays[i] = reinterpret_cast<double*>(start + i * (pages + stagger_bytes));
  }
  spin_barrier barrier(threads);
  std::vector<double> seconds(sweeps);
  double whole = 0;
  std::atomic<bool> failed{false};
  const auto work = [&](unsigned thread) {
    pin(thread);
    const operands part = part_of(all, thread, threads);
    fill(k, part);
    double result = 0;
    barrier.wait();
    const double begin = now();
    for (unsigned sweep = 0; sweep < sweeps; ++sweep)
      result = k.run(part);
    barrier.wait();
    if (thread == 0)
      whole = now() - begin;
    for (unsigned sweep = 0; sweep < sweeps; ++sweep) {
      barrier.wait();
      const double at = now();
      result = k.run(part);
      barrier.wait();
      if (thread == 0)
        seconds[sweep] = now() - at;
    }
    if (const auto wrong = verify(k, part, std::size_t{2} * sweeps, result)) {
      std::fprintf(stderr, "kernels: %s\n", wrong->c_str());
      failed = true;
    }
  };
  std::vector<std::jthread> team;
  for (unsigned thread = 1; thread < threads; ++thread)
    team.emplace_back(work, thread);
  work(0);
  team.clear();
  if (failed)
    return 1;
  std::ranges::sort(seconds);
  const double gigabytes = 1e-9 * static_cast<double>(k.accesses(all) * k.counted_bytes());
  std::printf(
      R"({"kernel": "%s", "threads": %u, "bytes": %zu, "pages": "%s", "instructions": "%s", )"
      R"("whole_gb_per_s": %.4f, "best_gb_per_s": %.4f, "median_gb_per_s": %.4f})"
      "\n",
      std::string(k.name).c_str(), threads, all.elements * sizeof(double) * k.arrays,
      huge ? "huge" : "base", std::string(instruction_set()).c_str(), gigabytes * sweeps / whole,
      gigabytes / seconds.front(), gigabytes / seconds[seconds.size() / 2]);
  return 0;
}

int run_chase(std::size_t bytes, bool huge, unsigned sweeps) {
  constexpr std::size_t steps = 200'000;
  pin(0);
  std::byte* const start = map_pages(bytes, huge);
  for (std::size_t at = 0; at < bytes; at += 4096)
    start[at] = std::byte{1};
  const double begin = now();
  link_chain(
      {start, bytes}, line_bytes,
      static_cast<std::uint64_t>(std::chrono::steady_clock::now().time_since_epoch().count()));
  const double link_seconds = now() - begin;
  const void* at = follow(start, steps);
  std::vector<double> times(sweeps);
  for (double& each : times) {
    const double from = now();
    at = follow(at, steps);
    each = (now() - from) / steps * 1e9;
  }
  if (at == nullptr)
    return 1;
  std::ranges::sort(times);
  std::printf(
      R"({"kernel": "chase", "threads": 1, "bytes": %zu, "pages": "%s", "link_seconds": %.4f, "best_ns": %.3f, "median_ns": %.3f})"
      "\n",
      bytes, huge ? "huge" : "base", link_seconds, times.front(), times[times.size() / 2]);
  return 0;
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 6)
    give_up("usage: kernels KERNEL|chase THREADS BYTES base|huge SWEEPS");
  const auto threads = static_cast<unsigned>(std::strtoul(argv[2], nullptr, 10));
  const std::size_t bytes = std::strtoull(argv[3], nullptr, 10);
  const bool huge = std::string_view(argv[4]) == "huge";
  const auto sweeps = static_cast<unsigned>(std::strtoul(argv[5], nullptr, 10));
  if (threads == 0 || sweeps == 0 || bytes < 4096)
    give_up("threads, sweeps: at least 1; bytes: at least 4096");
  if (std::string_view(argv[1]) == "chase")
    return run_chase(bytes, huge, sweeps);
  const kernel* const k = find_kernel(argv[1]);
  if (k == nullptr)
    give_up("no such kernel");
  return run_kernel(*k, threads, bytes, huge, sweeps);
}
