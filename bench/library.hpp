// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the benchmarks of the library have in common: the loops by the library, and the memory that
// the loops by hand run over. A name is a family and who runs it: "triad/library".
#pragma once

#include <array>
#include <cstddef>
#include <cstdlib>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include <sys/mman.h>

#include <benchmark/benchmark.h>

#include <nodewise/array.hpp>
#include <nodewise/owned_loop.hpp>

namespace nodewise::bench {

/// Of an array of the large loops: 64 MiB, twice a last cache of 32 MiB.
inline constexpr std::size_t elements = (std::size_t{64} << 20) / sizeof(double);
inline constexpr std::size_t base_page = 4096;
inline constexpr std::size_t huge_page = std::size_t{2} << 20;
inline constexpr double factor = 3;

/// Fresh private memory that begins at a multiple of 2 MiB, with or without transparent huge pages.
class plain_memory {
 public:
  plain_memory(std::size_t bytes, bool huge) : mapped_bytes_(bytes + huge_page) {
    void* const got = ::mmap(nullptr, mapped_bytes_, PROT_READ | PROT_WRITE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (got == MAP_FAILED) {
      throw std::bad_alloc();
    }
    mapped_ = got;
    std::size_t room = mapped_bytes_;
    void* aligned = got;
    start_ = static_cast<char*>(std::align(huge_page, bytes, aligned, room));
    ::madvise(start_, bytes, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
  }
  plain_memory(const plain_memory&) = delete;
  plain_memory& operator=(const plain_memory&) = delete;
  ~plain_memory() { ::munmap(mapped_, mapped_bytes_); }

  [[nodiscard]] char* data() const noexcept { return start_; }

 private:
  void* mapped_ = nullptr;
  std::size_t mapped_bytes_;
  char* start_ = nullptr;
};

/// Four arrays of a loop by hand.
struct pointers {
  double* a;
  double* b;
  double* c;
  double* d;
};

/// Where plain arrays begin, modulo 4 KiB.
enum class bases { congruent, staggered };

/// Four plain arrays on huge pages, as the library's are.
class plain_arrays {
 public:
  explicit plain_arrays(bases where) {
    for (std::size_t k = 0; k < memory_.size(); ++k) {
      memory_[k] = std::make_unique<plain_memory>(elements * sizeof(double) + base_page, true);
      // As far from one another as the library's next_stagger puts them.
      starts_[k] = reinterpret_cast<double*>(memory_[k]->data() +
                                             (where == bases::staggered ? k * 39 % 64 * 64 : 0));
    }
  }
  [[nodiscard]] pointers get() const noexcept {
    return {starts_[0], starts_[1], starts_[2], starts_[3]};
  }

 private:
  std::array<std::unique_ptr<plain_memory>, 4> memory_;
  std::array<double*, 4> starts_{};
};

/// Four arrays as malloc gives them: on a system that asks for madvise, on base pages.
class malloc_arrays {
 public:
  malloc_arrays() {
    for (auto& each : memory_) {
      each.reset(static_cast<double*>(std::malloc(elements * sizeof(double))));
      if (!each) {
        throw std::bad_alloc();
      }
    }
  }
  [[nodiscard]] pointers get() const noexcept {
    return {memory_[0].get(), memory_[1].get(), memory_[2].get(), memory_[3].get()};
  }

 private:
  struct give_back {
    void operator()(void* memory) const noexcept { std::free(memory); }
  };
  std::array<std::unique_ptr<double, give_back>, 4> memory_;
};

/// The library's four arrays, the first `used` of them filled.
struct library_arrays {
  template <class Teams>
  library_arrays(Teams& teams, bool staggered, std::size_t used)
      : a(elements, teams.blocked(), {.staggered = staggered}),
        b(elements, teams.blocked(), {.staggered = staggered}),
        c(elements, teams.blocked(), {.staggered = staggered}),
        d(elements, teams.blocked(), {.staggered = staggered}) {
    const std::array all{&a, &b, &c, &d};
    for (std::size_t k = 0; k < used; ++k) {
      teams.fill(*all[k], 1.0);
    }
  }
  [[nodiscard]] pointers get() noexcept { return {a.data(), b.data(), c.data(), d.data()}; }

  nodewise::array<double> a, b, c, d;
};

template <class Teams>
void library_copy(Teams& teams, library_arrays& x) {
  teams.for_each_owned(over(x.a, x.b), [](std::span<double> a, std::span<double> b) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = b[i];
    }
  });
}

template <class Teams>
void library_triad(Teams& teams, library_arrays& x) {
  teams.for_each_owned(over(x.a, x.b, x.c),
                       [](std::span<double> a, std::span<double> b, std::span<double> c) {
                         for (std::size_t i = 0; i < a.size(); ++i) {
                           a[i] = b[i] + factor * c[i];
                         }
                       });
}

/// Schoenauer's: two more loads than a store can hide.
template <class Teams>
void library_vector_triad(Teams& teams, library_arrays& x) {
  teams.for_each_owned(over(x.a, x.b, x.c, x.d), [](std::span<double> a, std::span<double> b,
                                                    std::span<double> c, std::span<double> d) {
    for (std::size_t i = 0; i < a.size(); ++i) {
      a[i] = b[i] + c[i] * d[i];
    }
  });
}

/// Seconds of one repetition: short, so that a drift of the machine's speed meets all parties.
inline constexpr double repetition = 0.005;

/// A benchmark of `loop()`. It runs once untimed, so that threads, pages and caches are as in the
/// middle of a run.
template <class Loop>
void add(const std::string& name, Loop loop) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [loop](benchmark::State& state) {
                                 loop();
                                 for (auto _ : state) {
                                   loop();
                                 }
                               })
      ->MeasureProcessCPUTime()
      ->UseRealTime()
      ->MinTime(repetition)
      ->Unit(benchmark::kMicrosecond);
}

/// Calls `make` when it is needed first, and hands out what that gave.
template <class Make>
auto lazily(Make make) {
  using made = decltype(make());
  return [make, kept = std::make_shared<made>()]() -> auto& {
    if (!*kept) {
      *kept = make();
    }
    return **kept;
  };
}

/// How many arrays each of the large loops has.
struct loop_name {
  const char* name;
  std::size_t arrays;
};
inline constexpr std::array loop_names{loop_name{"copy", 2}, loop_name{"triad", 3},
                                       loop_name{"vector_triad", 4}};

/// A loop by hand over four arrays.
using loop_by_hand = void (*)(const pointers&);

/// The large loops by the library, on staggered bases and on congruent ones, and `by_hand` on the
/// same memory: the one ratio without luck in it. `add_bound(name, loop)` registers a loop whose
/// threads stay bound, where the runtime can do that.
template <class Teams, class AddBound>
void add_library_loops(Teams& teams, const std::array<loop_by_hand, 3>& by_hand,
                       AddBound add_bound) {
  constexpr std::array by_library{library_copy<Teams>, library_triad<Teams>,
                                  library_vector_triad<Teams>};
  for (std::size_t k = 0; k < loop_names.size(); ++k) {
    const std::string name = std::string(loop_names[k].name) + "/";
    for (const bool staggered : {true, false}) {
      const auto arrays = lazily([&teams, staggered, k] {
        return std::make_unique<library_arrays>(teams, staggered, loop_names[k].arrays);
      });
      const std::string suffix = staggered ? "" : "_congruent";
      const auto loop = [&teams, arrays, run = by_library[k]] { run(teams, arrays()); };
      add_bound(name + "library" + suffix, loop);
      add_bound(name + "same" + suffix, [arrays, run = by_hand[k]] { run(arrays().get()); });
      if constexpr (requires { teams.runtime().keep_bound(); }) {
        if (staggered) {
          add(name + "library_not_held", loop);
        }
      }
    }
  }
}

/// The same by hand on memory of one's own. `fill(pointers, arrays)` touches it.
template <class Make, class AddOne, class Fill>
void add_loops_by_hand(const std::string& party, const std::array<loop_by_hand, 3>& by_hand,
                       Make make, Fill fill, AddOne add_one) {
  for (std::size_t k = 0; k < loop_names.size(); ++k) {
    const auto arrays = lazily([make, fill, k] {
      auto made = make();
      fill(made->get(), loop_names[k].arrays);
      return made;
    });
    add_one(std::string(loop_names[k].name) + "/" + party,
            [arrays, loop = by_hand[k]] { loop(arrays().get()); });
  }
}

inline int run_all(int count, char** words) {
  benchmark::Initialize(&count, words);
  if (benchmark::ReportUnrecognizedArguments(count, words)) {
    return 2;
  }
  benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  return 0;
}

} // namespace nodewise::bench
