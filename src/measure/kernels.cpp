// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/kernels.hpp"

#include <algorithm>
#include <bit>

#include <fmt/core.h>
#include <hwy/targets.h>

#include "measure/scramble.hpp"

namespace nodewise::measure {

namespace {

template <kernel_id id>
double run(const operands& part) noexcept {
  return run_kernel(id, part);
}

using enum kernel_id;

constexpr std::array<kernel, static_cast<std::size_t>(count)> table{{
    {load, "load", "x^=a[i]", 1, 1, 0, false, "load", run<load>},
    {sum, "sum", "x+=a[i]", 1, 1, 0, false, "sum", run<sum>},
    {store, "store", "a[i]=s", 1, 0, 1, false, "store", run<store>},
    {copy, "copy", "a[i]=b[i]", 2, 1, 1, false, "copy", run<copy>},
    {update, "update", "a[i]=s*a[i]", 1, 1, 1, false, "update", run<update>},
    {scale, "scale", "a[i]=s*b[i]", 2, 1, 1, false, "", run<scale>},
    {add, "add", "a[i]=b[i]+c[i]", 3, 2, 1, false, "", run<add>},
    {triad, "triad", "a[i]=b[i]+s*c[i]", 3, 2, 1, false, "stream", run<triad>},
    {schoenauer, "schoenauer", "a[i]=b[i]+c[i]*d[i]", 4, 3, 1, false, "triad", run<schoenauer>},
    {store_nt, "store_nt", "a[i]=s", 1, 0, 1, true, "store_mem", run<store_nt>},
    {copy_nt, "copy_nt", "a[i]=b[i]", 2, 1, 1, true, "copy_mem", run<copy_nt>},
    {scale_nt, "scale_nt", "a[i]=s*b[i]", 2, 1, 1, true, "", run<scale_nt>},
    {add_nt, "add_nt", "a[i]=b[i]+c[i]", 3, 2, 1, true, "", run<add_nt>},
    {triad_nt, "triad_nt", "a[i]=b[i]+s*c[i]", 3, 2, 1, true, "stream_mem", run<triad_nt>},
    {schoenauer_nt, "schoenauer_nt", "a[i]=b[i]+c[i]*d[i]", 4, 3, 1, true, "triad_mem",
     run<schoenauer_nt>},
    {strided_load, "strided_load", "x^=a[k*stride]", 1, 1, 0, false, "", run<strided_load>},
    {random_load, "random_load", "x^=a[random(k)]", 1, 1, 0, false, "", run<random_load>},
}};

constexpr std::size_t line_elements = line_bytes / sizeof(double);
constexpr double unwritten = -1;

std::size_t divided_up(std::size_t n, std::size_t by) {
  return n / by + (n % by != 0);
}

/// The values that fill() writes: 1024 to 2047, a different sequence for each array. They share one
/// exponent, so that no exclusive or of them is a NaN.
double first_value(std::size_t array, std::size_t i) {
  const auto mixed = static_cast<std::uint32_t>(i + (array << 20)) * 0x9E3779B1U;
  return 1024.0 + static_cast<double>(mixed >> 22);
}

bool reads_its_own(kernel_id id) {
  return id == load || id == sum || id == update || id == strided_load || id == random_load;
}

double expected_reduction(const kernel& k, const operands& part) {
  if (k.stores != 0)
    return 0;
  if (k.id == sum) {
    double total = 0; // exact below 2^53, so in any order
    for (std::size_t i = 0; i < part.elements; ++i)
      total += first_value(0, i);
    return total;
  }
  std::uint64_t bits = 0;
  const std::size_t accesses = k.accesses(part);
  for (std::size_t n = 0; n < accesses; ++n) {
    std::size_t i = n;
    if (k.id == strided_load)
      i = n * (part.stride_bytes / sizeof(double));
    else if (k.id == random_load)
      i = below(scramble(n), accesses) * line_elements;
    bits ^= std::bit_cast<std::uint64_t>(first_value(0, i));
  }
  return std::bit_cast<double>(bits);
}

double expected_element(kernel_id id, std::size_t i, std::size_t sweeps) {
  const auto b = [&] { return first_value(1, i); };
  const auto c = [&] { return first_value(2, i); };
  const auto d = [&] { return first_value(3, i); };
  if (id == update)
    return sweeps % 2 == 0 ? first_value(0, i) : update_factor * first_value(0, i);
  if (sweeps == 0)
    return unwritten;
  if (id == store || id == store_nt)
    return stored_value;
  if (id == copy || id == copy_nt)
    return b();
  if (id == scale || id == scale_nt)
    return factor * b();
  if (id == add || id == add_nt)
    return b() + c();
  return b() + (id == triad || id == triad_nt ? factor : d()) * c();
}

std::string difference(const std::string& what, double found, double expected) {
  return fmt::format("{} is {:.17g}, not {:.17g}", what, found, expected);
}

bool same(double x, double y) {
  return std::bit_cast<std::uint64_t>(x) == std::bit_cast<std::uint64_t>(y);
}

} // namespace

std::size_t kernel::accesses(const operands& part) const noexcept {
  switch (id) {
  case strided_load:
    return divided_up(part.elements, part.stride_bytes / sizeof(double));
  case random_load:
    return divided_up(part.elements, line_elements);
  default:
    return part.elements;
  }
}

std::size_t kernel::moved_bytes(std::size_t stride_bytes) const noexcept {
  if (id == random_load)
    return line_bytes;
  if (id == strided_load)
    return stride_bytes < line_bytes ? stride_bytes : line_bytes;
  const bool reads_first = !(streaming && has_streaming_stores) && id != update;
  return counted_bytes() + (reads_first ? sizeof(double) * stores : 0);
}

std::span<const kernel> kernels() noexcept {
  return table;
}

const kernel* find_kernel(std::string_view name_or_alias) noexcept {
  if (name_or_alias.empty())
    return nullptr;
  for (const auto name : {&kernel::name, &kernel::likwid})
    if (const auto* const k = std::ranges::find(table, name_or_alias, name); k != table.end())
      return k;
  return nullptr;
}

void fill(const kernel& k, const operands& part) noexcept {
  for (std::size_t array = 0; array < k.arrays; ++array) {
    const bool written_only = array == 0 && !reads_its_own(k.id);
    for (std::size_t i = 0; i < part.elements; ++i)
      part.arrays[array][i] = written_only ? unwritten : first_value(array, i);
  }
}

std::optional<std::string> verify(const kernel& k, const operands& part, std::size_t sweeps,
                                  double result) {
  if (const double expected = expected_reduction(k, part); sweeps != 0 && !same(result, expected))
    return difference(fmt::format("the result of {}", k.name), result, expected);
  for (std::size_t array = 0; array < k.arrays; ++array) {
    for (std::size_t i = 0; i < part.elements; ++i) {
      const double expected =
          array == 0 && k.stores != 0 ? expected_element(k.id, i, sweeps) : first_value(array, i);
      if (const double found = part.arrays[array][i]; !same(found, expected))
        return difference(fmt::format("{}[{}]", "abcd"[array], i), found, expected);
    }
  }
  return std::nullopt;
}

std::string_view instruction_set() noexcept {
  const std::string_view name = hwy::TargetName(chosen_target());
  if (name.starts_with("AVX3"))
    return "AVX-512";
  for (const std::string_view word :
       {"AVX10", "AVX2", "SSE4", "SSSE3", "SSE2", "SVE2", "SVE", "NEON"})
    if (name.starts_with(word))
      return word;
  return name == "SCALAR" || name == "EMU128" ? "scalar" : name;
}

} // namespace nodewise::measure
