// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <atomic>
#include <barrier>
#include <new>
#include <numeric>
#include <utility>

#include <nodewise/cache_aligned.hpp>
#include <nodewise/marker.h>

#include "measure/chain.hpp"
#include "measure/memory.hpp"
#include "measure/pinned.hpp"

namespace nodewise::measure {

namespace {

using clock = std::chrono::steady_clock;

constexpr std::size_t first_steps = 10'000;
/// Brings page tables and caches into a steady state: without it, the first samples of 20 ms were
/// 17, 4 and 3 % slower than the last.
constexpr std::chrono::duration<double> warm_up = 3 * least_sample;
/// A new chain costs more time than all samples of one, and another cycle through the same lines
/// would differ only in its order.
constexpr std::size_t samples_of_a_chain = 6;

void pause_a_little() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ volatile("yield");
#endif
}

/// The number of bytes that one thread has moved; another thread reads it. On a separate cache
/// line: threads would slow each other down by writing to a shared one.
using bytes_counter = cache_aligned<std::atomic<std::uint64_t>>;

/// Sweeps over a part in blocks of 4 KiB with pauses in between, until `over` is true.
void sweep_until(const std::atomic<bool>& over, const stream_part& part, unsigned pauses,
                 std::atomic<std::uint64_t>& bytes) {
  constexpr std::size_t block = 4096 / sizeof(double);
  for (std::size_t at = 0; !over.load(std::memory_order_relaxed);) {
    operands some = part.with;
    some.elements = std::min(block, part.with.elements - at);
    for (double*& each : some.arrays) {
      each = each != nullptr ? each + at : nullptr;
    }
    (void)part.does->run(some);
    // Only this thread writes.
    bytes.store(bytes.load(std::memory_order_relaxed) + part.counted_bytes(some),
                std::memory_order_relaxed);
    for (unsigned i = 0; i < pauses; ++i) {
      pause_a_little();
    }
    at = at + some.elements < part.with.elements ? at + some.elements : 0;
  }
}

/// Chains, and the threads that run beside them.
class chasing {
 public:
  chasing(const point& what, const chase_work& does, const bench& with, outcome& into)
      : what_(what), does_(does), with_(with), into_(into), cpus_(needs_of(what.work).threads),
        beside_(cpus_.size() - 1) {
    if (does.beside) {
      others_.add(with, *does.beside, what.pages);
    }
  }

  void one_chain() {
    const region chain = take_memory(with_, does_.bytes, std::array{does_.memory}, {}, what_.pages);
    std::atomic<bool> over = false;
    std::barrier<> linked(static_cast<std::ptrdiff_t>(cpus_.size()));
    run_pinned(cpus_, [&](std::size_t k) {
      if (k != 0) {
        const stream_part& own = others_.parts[k - 1];
        fill(*own.does, own.with);
        linked.arrive_and_wait();
        sweep_until(over, own, does_.pauses, beside_[k - 1].value);
        return;
      }
      // The other threads must begin and end even if the chase itself fails.
      bool begun = false;
      try {
        link_chain(chain.bytes(), line_bytes, into_.samples.size() + 1);
        begun = true;
        linked.arrive_and_wait();
        time_chain(chain.data());
      } catch (...) {
        over = true;
        if (!begun) {
          linked.arrive_and_drop();
        }
        throw;
      }
      over = true;
    });
    if (into_.samples.size() <= samples_of_a_chain) {
      look_at_memory(with_, {&chain, 1}, into_);
      if (!into_.unavailable.empty()) {
        into_.samples.clear();
      }
    }
  }

 private:
  void time_chain(const void* at) {
    const std::string mark = mark_of(what_);
    at = follow(at, first_steps);
    std::size_t steps = first_steps;
    auto [one, next] = timed(at, steps);
    steps = std::max<std::size_t>(
        static_cast<std::size_t>(least_sample.count() / std::max(one.count(), 1e-9) *
                                 static_cast<double>(steps)),
        first_steps);
    at = follow(next, static_cast<std::size_t>(warm_up / least_sample) * steps);
    NODEWISE_MARKER_START(mark.c_str());
    for (std::size_t k = 0; k < samples_of_a_chain; ++k) {
      const std::uint64_t before = bytes_beside();
      const auto [time, there] = timed(at, steps);
      at = there;
      into_.samples.push_back(time.count() * 1e9 / static_cast<double>(steps));
      if (does_.beside) {
        into_.beside.push_back(static_cast<double>(bytes_beside() - before) / time.count() / 1e9);
      }
      if (with_.stopped()) {
        break;
      }
    }
    NODEWISE_MARKER_STOP(mark.c_str());
    into_.frequency_mhz = frequency_mhz(*with_.kernel, does_.cpu);
  }

  [[nodiscard]] std::uint64_t bytes_beside() const {
    return std::transform_reduce(
        beside_.begin(), beside_.end(), std::uint64_t{0}, std::plus<>(),
        [](const bytes_counter& each) { return each.value.load(std::memory_order_relaxed); });
  }

  static std::pair<std::chrono::duration<double>, const void*> timed(const void* from,
                                                                     std::size_t steps) {
    const auto before = clock::now();
    const void* const to = follow(from, steps);
    return {clock::now() - before, to};
  }

  const point& what_;
  const chase_work& does_;
  const bench& with_;
  outcome& into_;
  std::vector<cpu_id> cpus_;
  stream_arrays others_;
  std::vector<bytes_counter> beside_; ///< by thread
};

/// Sent in place of a question: ends the answering thread.
constexpr std::uint64_t no_more = ~std::uint64_t{0};

/// Writes an odd number and waits for the next even one from another thread, `rounds` times.
std::chrono::duration<double> round_trips(std::atomic<std::uint64_t>& turn, std::uint64_t rounds) {
  const auto start = clock::now();
  for (std::uint64_t last = turn.load(std::memory_order_relaxed), round = 0; round < rounds;
       ++round, last += 2) {
    turn.store(last + 1, std::memory_order_release);
    while (turn.load(std::memory_order_acquire) != last + 2) {
    }
  }
  return clock::now() - start;
}

void answer(std::atomic<std::uint64_t>& turn) {
  for (std::uint64_t question = 1;; question += 2) {
    std::uint64_t now = 0;
    while ((now = turn.load(std::memory_order_acquire)) != question) {
      if (now == no_more) {
        return;
      }
    }
    turn.store(question + 1, std::memory_order_release);
  }
}

/// Half of a round trip. If two processors of a virtual machine share one real processor, a round
/// trip takes milliseconds: the sample then has only a few.
double transfer_ns(std::atomic<std::uint64_t>& turn) {
  constexpr std::uint64_t most_rounds = 20'000;
  constexpr std::uint64_t most_to_look = 1024;
  (void)round_trips(turn, 1); // also waits for the other thread to begin
  auto left = least_sample;
  auto quickest = least_sample; // an interruption must not shorten the sample
  for (std::uint64_t some = 1; some <= most_to_look && left.count() > 0; some *= 2) {
    const auto took = round_trips(turn, some);
    left -= took;
    quickest = std::min(quickest, took / static_cast<double>(some));
  }
  const auto rounds = std::clamp<std::uint64_t>(
      static_cast<std::uint64_t>(least_sample / std::max(quickest, least_sample / most_rounds)), 1,
      most_rounds);
  const std::chrono::duration<double, std::nano> all = round_trips(turn, rounds);
  turn.store(no_more, std::memory_order_release);
  return all.count() / static_cast<double>(2 * rounds);
}

} // namespace

void run_work(const point& what, const chase_work& does, const bench& with, outcome& into) {
  std::optional<chasing> all;
  take_samples(with, into, [&] {
    if (!all) {
      all.emplace(what, does, with, into);
    }
    all->one_chain();
  });
}

void run_work(const point& what, const transfer_work& does, const bench& with, outcome& into) {
  take_samples(with, into, [&] {
    const region home =
        take_memory(with, with.kernel->base_page_bytes(), std::array{does.memory}, {}, what.pages);
    auto& turn = *new (home.data()) std::atomic<std::uint64_t>(0);
    double ns = 0;
    run_pinned(std::array{does.first, does.second}, [&](std::size_t k) {
      if (k == 0) {
        ns = transfer_ns(turn);
      } else {
        answer(turn);
      }
    });
    if (into.samples.empty()) {
      look_at_memory(with, {&home, 1}, into);
    }
    if (into.unavailable.empty()) {
      into.samples.push_back(ns);
    }
  });
}

} // namespace nodewise::measure
