// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A product on a machine with several nodes whose input vector has a given placement: prints the
// remote share of the vector's reads that `choose_input` predicts, and where the vector is.
//
// usage: input_in_guest band|spread|random blocked|interleaved|copied
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>
#include <string>
#include <string_view>

#include <nodewise/marker.h>
#include <nodewise/openmp.hpp>
#include <nodewise/sparse.hpp>

namespace {

constexpr std::size_t n = 524'288; // a vector of 4 MiB; the matrix displaces it from the caches
constexpr std::size_t entries = 4;

std::size_t column_of(std::string_view entries_are, std::size_t row, std::size_t k,
                      std::minstd_rand& random) {
  if (entries_are == "random") {
    return random() % n;
  }
  const std::size_t apart = entries_are == "band" ? 1 : 16'000;
  return std::min(row + k * apart, n - 1);
}

void print_memory(const void* data, std::size_t bytes) {
  std::printf("x %d %#zx %zu\n", static_cast<int>(::getpid()),
              static_cast<std::size_t>(reinterpret_cast<std::uintptr_t>(data)), bytes);
}

} // namespace

int main(int count, char** words) {
  const std::string_view entries_are = count > 1 ? words[1] : "";
  const std::string_view placement = count > 2 ? words[2] : "";
  nodewise::openmp_teams teams;
  const auto a = nodewise::sparse_matrix<double>::from_rows(
      teams, n, n, [](std::size_t) { return entries; },
      [&](std::size_t row, std::span<std::int32_t> to, std::span<double> values) {
        std::minstd_rand random(static_cast<unsigned>(row + 1));
        for (std::size_t k = 0; k < entries; ++k) {
          to[k] = static_cast<std::int32_t>(column_of(entries_are, row, k, random));
        }
        std::ranges::fill(values, 1.0);
      });
  for (const nodewise::input_cost& each : nodewise::choose_input(teams, a).costs) {
    if (nodewise::to_string(each.placement) == placement) {
      nodewise::placed_input<double> x(teams, a, each.placement);
      x.update(teams, [](std::size_t, std::span<double> part) { std::ranges::fill(part, 1.0); });
      auto y = a.output_vector();
      teams.fill(y, 0.0);
      x.visit([](const auto& memory) {
        if constexpr (requires { memory.copies(); }) {
          for (std::size_t team = 0; team < memory.copies(); ++team) {
            print_memory(memory.copy(team).data(), memory.copy(team).size_bytes());
          }
        } else {
          print_memory(memory.data(), memory.size() * sizeof(double));
        }
      });
      NODEWISE_MARKER_USE();
      nodewise::multiply(teams, a, x, y);
      const bool right = std::ranges::all_of(y, [](double sum) { return sum == entries; });
      std::printf("predicted %.4f\nresult right %d\n", each.remote_share(), right ? 1 : 0);
      return 0;
    }
  }
  std::fprintf(stderr, "usage: input_in_guest band|spread|random blocked|interleaved|copied\n");
  return 2;
}
