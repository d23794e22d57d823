// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Making an array of 1 GiB and filling it, by the library and by bare system calls: from nothing
// until all of it has its value. Giving the memory back is not timed.
#include <algorithm>
#include <chrono>
#include <cstring>

#include <nodewise/openmp.hpp>

#include "library.hpp"

namespace {

using namespace nodewise;
using namespace nodewise::bench;

constexpr std::size_t bytes = std::size_t{1} << 30;
constexpr int byte_of_value = 0x3f; // eight of them are a number, as memset can write it

double value() {
  double of = 0;
  std::memset(&of, byte_of_value, sizeof of);
  return of;
}

/// A benchmark of making and filling; what `make` returns is destroyed outside the time. Before it
/// the same is done untimed: the kernel gives again what it just got back, so that in a virtual
/// machine the host's own page faults are over.
template <class Make>
void add_fresh(const std::string& name, Make make) {
  benchmark::RegisterBenchmark(name.c_str(),
                               [make](benchmark::State& state) {
                                 make().reset();
                                 for (auto _ : state) {
                                   const auto begin = std::chrono::steady_clock::now();
                                   const auto made = make();
                                   const std::chrono::duration<double> took =
                                       std::chrono::steady_clock::now() - begin;
                                   benchmark::DoNotOptimize(made->data());
                                   state.SetIterationTime(took.count());
                                 }
                               })
      ->UseManualTime()
      ->Iterations(1)
      ->Unit(benchmark::kMicrosecond);
}

/// Each of the two threads does its half, bound to its processor.
template <class Half>
auto by_halves(openmp_teams& teams, bool huge, Half half) {
  return [&teams, huge, half] {
    auto memory = std::make_unique<plain_memory>(bytes, huge);
    const std::size_t workers = teams.threads().workers().size();
    teams.on_each_worker([&](const worker& me) {
      const std::size_t first = bytes / workers * me.number / huge_page * huge_page;
      const std::size_t last = bytes / workers * (me.number + 1) / huge_page * huge_page;
      half(memory->data() + first, last - first);
    });
    return memory;
  };
}

/// One thread touches the pages one after the other: what a serial initialisation pays for.
auto serially(bool huge, std::size_t step) {
  return [huge, step] {
    auto memory = std::make_unique<plain_memory>(bytes, huge);
    if (step == 1) {
      std::memset(memory->data(), byte_of_value, bytes);
    } else {
      for (std::size_t at = 0; at < bytes; at += step) {
        const_cast<volatile char*>(memory->data())[at] = byte_of_value;
      }
    }
    return memory;
  };
}

void add_page_size(openmp_teams& teams, bool huge) {
  const std::string pages = huge ? "_huge" : "_base";
  const page_size of = huge ? page_size::transparent_huge : page_size::base;
  add_fresh("fresh/library_fill" + pages, [&teams, of] {
    auto made = std::make_unique<array<double>>(bytes / sizeof(double), teams.blocked(),
                                                array_options{.pages = of});
    teams.fill(*made, value());
    return made;
  });
  add_fresh("fresh/library_touch" + pages, [&teams, of] {
    auto made = std::make_unique<array<double>>(bytes / sizeof(double), teams.blocked(),
                                                array_options{.pages = of});
    teams.first_touch(*made);
    return made;
  });
  add_fresh("fresh/memset" + pages, by_halves(teams, huge, [](char* start, std::size_t size) {
              std::memset(start, byte_of_value, size);
            }));
  add_fresh("fresh/populate" + pages, by_halves(teams, huge, [](char* start, std::size_t size) {
              ::madvise(start, size, MADV_POPULATE_WRITE);
            }));
  add_fresh("fresh/populate_memset" + pages,
            by_halves(teams, huge, [](char* start, std::size_t size) {
              ::madvise(start, size, MADV_POPULATE_WRITE);
              std::memset(start, byte_of_value, size);
            }));
}

/// Once more over memory that is there: what `fill` costs then.
void add_again(openmp_teams& teams, array<double>& of) {
  add("fresh/library_fill_again", [&] { teams.fill(of, value()); });
  add("fresh/memset_again", [&] {
    teams.for_each_owned(of, [](std::span<double> part) {
      std::memset(part.data(), byte_of_value, part.size_bytes());
    });
  });
  add("fresh/fill_n_again", [&] {
    teams.for_each_owned(of, [](std::span<double> part) { std::ranges::fill(part, value()); });
  });
}

} // namespace

int main(int count, char** words) {
  openmp_teams teams;
  for (const bool huge : {true, false}) {
    add_page_size(teams, huge);
  }
  add_fresh("fresh/serial_touch_base", serially(false, base_page));
  add_fresh("fresh/serial_memset_base", serially(false, 1));
  array<double> kept(elements, teams.blocked());
  teams.fill(kept, value());
  add_again(teams, kept);
  return run_all(count, words);
}
