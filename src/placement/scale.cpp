// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "placement/scale.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include <nodewise/arithmetic.hpp>

namespace nodewise::placements {

namespace {

std::uint64_t sum_of(const std::vector<owner_run>& parts) {
  return std::accumulate(parts.begin(), parts.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const owner_run& run) { return sum + run.parts; });
}

/// Reduces the map to at most `most` parts: rounds every edge down.
std::vector<owner_run> coarser(const std::vector<owner_run>& parts, std::uint64_t most) {
  const std::uint64_t whole = sum_of(parts);
  std::vector<owner_run> made;
  std::uint64_t edge = 0;
  std::uint64_t before = 0;
  for (const owner_run& run : parts) {
    edge += run.parts;
    const std::uint64_t after = arithmetic::multiply_divide(edge, most, whole);
    if (after > before) {
      made.push_back({after - before, run.owner});
    }
    before = after;
  }
  return made;
}

void join(std::vector<owner_run>& parts) {
  std::vector<owner_run> made;
  for (const owner_run& run : parts) {
    if (!made.empty() && made.back().owner == run.owner) {
      made.back().parts += run.parts;
    } else {
      made.push_back(run);
    }
  }
  parts = std::move(made);
}

/// Reduces to the fewest runs and parts that express the same map.
void reduce(std::vector<owner_run>& parts) {
  join(parts);
  std::uint64_t common = 0;
  for (const owner_run& run : parts) {
    common = std::gcd(common, run.parts);
  }
  for (owner_run& run : parts) {
    run.parts /= common;
  }
}

} // namespace

std::size_t scaled_thread(std::size_t thread, std::size_t from, std::size_t to) {
  return std::min(thread * to / from, to - 1);
}

std::vector<owner_run> scaled_parts(const std::vector<owner_run>& parts, std::size_t from,
                                    std::size_t to) {
  std::vector<owner_run> made;
  for (const owner_run& run : parts) {
    // On a common scale an old thread has length `to` and a new one length `from`.
    const std::size_t begin = run.owner * to;
    const std::size_t end = begin + to;
    for (std::size_t thread = begin / from; thread * from < end; ++thread) {
      const std::size_t overlap =
          std::min(end, (thread + 1) * from) - std::max(begin, thread * from);
      made.push_back({run.parts * overlap, thread});
    }
  }
  return made;
}

std::vector<owner_run> simplified(std::vector<owner_run> parts, std::uint64_t most) {
  reduce(parts);
  if (sum_of(parts) > most) {
    parts = coarser(parts, most);
    reduce(parts);
  }
  return parts;
}

} // namespace nodewise::placements
