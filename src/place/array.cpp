// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/array.hpp>

#include <atomic>
#include <cstdint>
#include <string>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::inline v0::detail {

namespace {

constexpr std::size_t line_bytes = 64;
/// Cache lines in 4 KiB: processors compare addresses modulo 4 KiB before they compare all bits.
constexpr std::size_t lines = 64;
/// Odd, so that 64 arrays get 64 different offsets. Close to 64 / golden ratio, so that each new
/// offset is far from those before it.
constexpr std::size_t step_lines = 39;

} // namespace

std::size_t next_stagger(std::size_t alignment) noexcept {
  static std::atomic<std::size_t> arrays{0};
  if (alignment > line_bytes) {
    return 0;
  }
  return arrays.fetch_add(1, std::memory_order_relaxed) * step_lines % lines * line_bytes;
}

std::size_t bytes_for(std::size_t elements, std::size_t element_bytes, std::size_t offset) {
  constexpr std::size_t most = SIZE_MAX / 4;
  if (elements > (most - offset) / element_bytes) {
    throw error(error_kind::usage,
                fmt::format("an array of {} elements of {} bytes", elements, element_bytes),
                "more than the address space holds", "ask for less");
  }
  if (elements == 0) {
    throw error(error_kind::usage, "an array of 0 elements", "an array needs at least one element",
                "ask for memory that holds something");
  }
  return offset + elements * element_bytes;
}

} // namespace nodewise::inline v0::detail
