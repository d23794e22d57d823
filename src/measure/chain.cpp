// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/chain.hpp"

#include <limits>
#include <new>
#include <numeric>
#include <utility>
#include <vector>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "measure/scramble.hpp"

namespace nodewise::measure {

namespace {

/// Draws the successor of each line in a separate array, which is a sixteenth of the buffer and
/// mostly in caches; then writes the buffer itself once, in order.
template <class Index>
void link_lines(std::byte* start, std::size_t lines, std::size_t line_bytes, std::uint64_t seed) {
  std::vector<Index> successor(lines);
  std::iota(successor.begin(), successor.end(), Index{0});
  const std::uint64_t sequence = scramble(seed);
  for (std::size_t i = lines - 1; i > 0; --i)
    std::swap(successor[i], successor[below(scramble(sequence + i), i)]);
  for (std::size_t i = 0; i < lines; ++i)
    ::new (start + i * line_bytes) const void*(start + successor[i] * line_bytes);
}

} // namespace

void link_chain(std::span<std::byte> buffer, std::size_t line_bytes, std::uint64_t seed) {
  const auto address = reinterpret_cast<std::uintptr_t>(buffer.data());
  if (line_bytes == 0 || line_bytes % sizeof(void*) != 0 || address % alignof(void*) != 0 ||
      buffer.size() < line_bytes)
    throw error(error_kind::usage,
                fmt::format("a chain of lines of {} bytes in a buffer of {} bytes", line_bytes,
                            buffer.size()),
                "there is no line, or a line has no room for an aligned pointer",
                fmt::format("give an aligned buffer of at least one line, and lines that are a "
                            "multiple of {} bytes",
                            sizeof(void*)));
  const std::size_t lines = buffer.size() / line_bytes;
  if (lines <= std::numeric_limits<std::uint32_t>::max())
    link_lines<std::uint32_t>(buffer.data(), lines, line_bytes, seed);
  else
    link_lines<std::uint64_t>(buffer.data(), lines, line_bytes, seed);
}

const void* follow(const void* start, std::size_t steps) noexcept {
  const void* at = start;
  for (; steps >= 64; steps -= 64) {
#pragma GCC unroll 64
    for (int i = 0; i < 64; ++i)
      at = *static_cast<const void* const*>(at);
  }
  for (; steps > 0; --steps)
    at = *static_cast<const void* const*>(at);
  // A caller that only measures time ignores the result: without this the compiler could drop the
  // loads.
  __asm__ volatile("" : "+r"(at)::"memory");
  return at;
}

} // namespace nodewise::measure
