// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "plan/scale.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <nodewise/arithmetic.hpp>

namespace nodewise::plans {

namespace {

std::uint64_t sum_of(const std::vector<part_run>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const part_run& run) { return sum + run.parts; });
}

/// Reduces the map to at most `most` parts: rounds every edge down.
std::vector<part_run> coarser(const std::vector<part_run>& parts, std::uint64_t most) {
  const std::uint64_t whole = sum_of(parts);
  std::vector<part_run> made;
  std::uint64_t edge = 0;
  std::uint64_t before = 0;
  for (const part_run& run : parts) {
    edge += run.parts;
    const std::uint64_t after = arithmetic::multiply_divide(edge, most, whole);
    if (after > before) {
      made.push_back({after - before, run.thread});
    }
    before = after;
  }
  return made;
}

void join(std::vector<part_run>& parts) {
  std::vector<part_run> made;
  for (const part_run& run : parts) {
    if (!made.empty() && made.back().thread == run.thread) {
      made.back().parts += run.parts;
    } else {
      made.push_back(run);
    }
  }
  parts = std::move(made);
}

/// Reduces to the fewest runs and parts that express the same map.
void reduce(std::vector<part_run>& parts) {
  join(parts);
  std::uint64_t common = 0;
  for (const part_run& run : parts) {
    common = std::gcd(common, run.parts);
  }
  for (part_run& run : parts) {
    run.parts /= common;
  }
}

} // namespace

std::size_t scaled_thread(std::size_t thread, std::size_t from, std::size_t to) {
  return std::min(thread * to / from, to - 1);
}

std::vector<part_run> scaled_parts(const std::vector<part_run>& parts, std::size_t from,
                                   std::size_t to) {
  std::vector<part_run> made;
  for (const part_run& run : parts) {
    // On a common scale an old thread has length `to` and a new one length `from`.
    const std::size_t begin = run.thread * to;
    const std::size_t end = begin + to;
    for (std::size_t thread = begin / from; thread * from < end; ++thread) {
      const std::size_t overlap =
          std::min(end, (thread + 1) * from) - std::max(begin, thread * from);
      made.push_back({run.parts * overlap, thread});
    }
  }
  return made;
}

std::vector<part_run> simplified(std::vector<part_run> parts, std::uint64_t most) {
  reduce(parts);
  if (sum_of(parts) > most) {
    parts = coarser(parts, most);
    reduce(parts);
  }
  return parts;
}

} // namespace nodewise::plans
