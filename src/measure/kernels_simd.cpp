// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/operands.hpp"

#include <algorithm>
#include <bit>
#include <type_traits>

#include "measure/scramble.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "measure/kernels_simd.cpp"
#include <hwy/foreach_target.h>

#include <hwy/cache_control.h>
#include <hwy/highway.h>

// Everything up to the end of this namespace is compiled once for each instruction set.
HWY_BEFORE_NAMESPACE();
namespace nodewise::measure {
namespace HWY_NAMESPACE {
namespace {

namespace hn = hwy::HWY_NAMESPACE;

using tag = hn::ScalableTag<double>;
using vec = hn::Vec<tag>;

// The values that loops write to a: `at` gives a vector of elements from i on, `one` the element i.
struct constant {
  static HWY_INLINE vec at(tag, vec s, const operands&, std::size_t) { return s; }
  static double one(double s, const operands&, std::size_t) { return s; }
};
struct copied {
  static HWY_INLINE vec at(tag d, vec, const operands& p, std::size_t i) {
    return hn::LoadU(d, p.arrays[1] + i);
  }
  static double one(double, const operands& p, std::size_t i) { return p.arrays[1][i]; }
};
template <std::size_t source>
struct scaled {
  static HWY_INLINE vec at(tag d, vec s, const operands& p, std::size_t i) {
    return hn::Mul(s, hn::LoadU(d, p.arrays[source] + i));
  }
  static double one(double s, const operands& p, std::size_t i) { return s * p.arrays[source][i]; }
};
struct added {
  static HWY_INLINE vec at(tag d, vec, const operands& p, std::size_t i) {
    return hn::Add(hn::LoadU(d, p.arrays[1] + i), hn::LoadU(d, p.arrays[2] + i));
  }
  static double one(double, const operands& p, std::size_t i) {
    return p.arrays[1][i] + p.arrays[2][i];
  }
};
struct scaled_and_added {
  static HWY_INLINE vec at(tag d, vec s, const operands& p, std::size_t i) {
    return hn::MulAdd(s, hn::LoadU(d, p.arrays[2] + i), hn::LoadU(d, p.arrays[1] + i));
  }
  static double one(double s, const operands& p, std::size_t i) {
    return p.arrays[1][i] + s * p.arrays[2][i];
  }
};
struct multiplied_and_added {
  static HWY_INLINE vec at(tag d, vec, const operands& p, std::size_t i) {
    return hn::MulAdd(hn::LoadU(d, p.arrays[2] + i), hn::LoadU(d, p.arrays[3] + i),
                      hn::LoadU(d, p.arrays[1] + i));
  }
  static double one(double, const operands& p, std::size_t i) {
    return p.arrays[1][i] + p.arrays[2][i] * p.arrays[3][i];
  }
};

/// The number of elements before the first that starts a line: streaming stores need aligned
/// vectors.
std::size_t up_to_a_line(const double* start, std::size_t elements) {
  const auto past = reinterpret_cast<std::uintptr_t>(start) % line_bytes;
  return std::min(elements, (line_bytes - past) % line_bytes / sizeof(double));
}

template <bool streaming>
HWY_INLINE void put(vec v, tag d, double* to) {
  if constexpr (streaming)
    hn::Stream(v, d, to);
  else
    hn::StoreU(v, d, to);
}

/// Writes `many` vectors to a, from i on: computes all values before it stores the first. `vectors`
/// are the values computed so far; parameters, since SVE's vectors cannot be in an array.
template <class Value, bool streaming, std::size_t many, class... Vectors>
HWY_INLINE void burst(const operands& part, tag d, vec s, std::size_t i, Vectors... vectors) {
  constexpr std::size_t there = sizeof...(vectors);
  if constexpr (there < many) {
    burst<Value, streaming, many>(part, d, s, i, vectors...,
                                  Value::at(d, s, part, i + there * hn::Lanes(d)));
  } else {
    std::size_t to = i;
    ((put<streaming>(vectors, d, part.arrays[0] + to), to += hn::Lanes(d)), ...);
  }
}

/// The number of vectors in a burst: the fastest in memory on an Emerald Rapids, with vectors of a
/// line each (32 registers) and of half a line (16). Long bursts separate reads from streaming
/// writes and gain up to 12 %; ordinary stores gain nothing, and lose 2 % with two sources.
template <class Value, bool streaming>
constexpr std::size_t burst_vectors() {
  constexpr bool whole_lines = HWY_ARCH_X86 && HWY_MAX_BYTES == line_bytes;
  if (std::is_same_v<Value, scaled<0>>)
    return 8;
  return streaming && whole_lines ? 16 : 4;
}

/// a[i] = value(i) for a whole part. Takes `part` by value, so that stores to a cannot change the
/// pointers.
template <class Value, bool streaming>
HWY_NOINLINE double map(const operands part, double scalar) {
  const tag d;
  const vec s = hn::Set(d, scalar);
  constexpr std::size_t many = burst_vectors<Value, streaming>();
  const std::size_t step = many * hn::Lanes(d);
  double* const a = part.arrays[0];
  std::size_t i = 0;
  for (const std::size_t head = up_to_a_line(a, part.elements); i < head; ++i)
    a[i] = Value::one(scalar, part, i);
  for (; i + step <= part.elements; i += step)
    burst<Value, streaming, many>(part, d, s, i);
  for (; i + hn::Lanes(d) <= part.elements; i += hn::Lanes(d))
    burst<Value, streaming, 1>(part, d, s, i);
  for (; i < part.elements; ++i)
    a[i] = Value::one(scalar, part, i);
  if constexpr (streaming)
    hwy::FlushStream();
  return 0;
}

struct bits {
  static HWY_INLINE vec join(vec x, vec y) { return hn::Xor(x, y); }
  static double one(double x, double y) {
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(x) ^ std::bit_cast<std::uint64_t>(y));
  }
};
struct addition {
  static HWY_INLINE vec join(vec x, vec y) { return hn::Add(x, y); }
  static double one(double x, double y) { return x + y; }
};

/// Joins all elements of a part into one; 0 is neutral to the joins. Uses eight chains: an addition
/// takes four cycles, and two begin in each cycle. Uses a moving pointer, not an index: a load with
/// an index does not fuse with its join into one micro-operation, which costs 5 % of the bandwidth
/// on an Emerald Rapids.
template <class Join>
HWY_NOINLINE double reduce(const operands part, double) {
  const tag d;
  const std::size_t lanes = hn::Lanes(d);
  const double* at = part.arrays[0];
  const double* const end = at + part.elements;
  vec v0 = hn::Zero(d);
  vec v1 = v0, v2 = v0, v3 = v0, v4 = v0, v5 = v0, v6 = v0, v7 = v0;
  double rest = 0;
  for (const double* const line = at + up_to_a_line(at, part.elements); at != line; ++at)
    rest = Join::one(rest, *at);
  for (auto bursts = static_cast<std::size_t>(end - at) / (8 * lanes); bursts > 0; --bursts) {
    v0 = Join::join(v0, hn::LoadU(d, at));
    v1 = Join::join(v1, hn::LoadU(d, at + lanes));
    v2 = Join::join(v2, hn::LoadU(d, at + 2 * lanes));
    v3 = Join::join(v3, hn::LoadU(d, at + 3 * lanes));
    v4 = Join::join(v4, hn::LoadU(d, at + 4 * lanes));
    v5 = Join::join(v5, hn::LoadU(d, at + 5 * lanes));
    v6 = Join::join(v6, hn::LoadU(d, at + 6 * lanes));
    v7 = Join::join(v7, hn::LoadU(d, at + 7 * lanes));
    at += 8 * lanes;
  }
  for (auto vectors = static_cast<std::size_t>(end - at) / lanes; vectors > 0; --vectors) {
    v0 = Join::join(v0, hn::LoadU(d, at));
    at += lanes;
  }
  for (; at != end; ++at)
    rest = Join::one(rest, *at);
  v0 = Join::join(Join::join(v0, v1), Join::join(v2, v3));
  v4 = Join::join(Join::join(v4, v5), Join::join(v6, v7));
  HWY_ALIGN double lane[hn::MaxLanes(tag())];
  hn::Store(Join::join(v0, v4), d, lane);
  for (std::size_t k = 0; k < lanes; ++k)
    rest = Join::one(rest, lane[k]);
  return rest;
}

std::uint64_t bits_at(const double* element) {
  return std::bit_cast<std::uint64_t>(*element);
}

HWY_NOINLINE double strided(const operands part, double) {
  const std::size_t stride = std::max<std::size_t>(part.stride_bytes / sizeof(double), 1);
  const double* const a = part.arrays[0];
  std::uint64_t x0 = 0, x1 = 0, x2 = 0, x3 = 0;
  std::size_t left = part.elements / stride + (part.elements % stride != 0);
  const double* at = a;
  for (; left >= 4; left -= 4, at += 4 * stride) {
    x0 ^= bits_at(at);
    x1 ^= bits_at(at + stride);
    x2 ^= bits_at(at + 2 * stride);
    x3 ^= bits_at(at + 3 * stride);
  }
  for (std::size_t k = 0; k < left; ++k)
    x0 ^= bits_at(at + k * stride);
  return std::bit_cast<double>(x0 ^ x1 ^ x2 ^ x3);
}

HWY_NOINLINE double at_random(const operands part, double) {
  constexpr std::size_t line = line_bytes / sizeof(double);
  const std::size_t lines = part.elements / line + (part.elements % line != 0);
  const double* const a = part.arrays[0];
  std::uint64_t x0 = 0, x1 = 0;
  std::size_t k = 0;
  for (; k + 2 <= lines; k += 2) {
    x0 ^= bits_at(a + below(scramble(k), lines) * line);
    x1 ^= bits_at(a + below(scramble(k + 1), lines) * line);
  }
  for (; k < lines; ++k)
    x0 ^= bits_at(a + below(scramble(k), lines) * line);
  return std::bit_cast<double>(x0 ^ x1);
}

/// In the order of kernel_id.
constexpr auto loops = std::to_array<double (*)(operands, double)>({
    reduce<bits>,
    reduce<addition>,
    map<constant, false>,
    map<copied, false>,
    map<scaled<0>, false>,
    map<scaled<1>, false>,
    map<added, false>,
    map<scaled_and_added, false>,
    map<multiplied_and_added, false>,
    map<constant, true>,
    map<copied, true>,
    map<scaled<1>, true>,
    map<added, true>,
    map<scaled_and_added, true>,
    map<multiplied_and_added, true>,
    strided,
    at_random,
});
static_assert(loops.size() == static_cast<std::size_t>(kernel_id::count));

double run(kernel_id id, const operands& part, double s) {
  return loops[static_cast<std::size_t>(id)](part, s);
}

std::int64_t target() {
  return HWY_TARGET;
}

} // namespace
} // namespace HWY_NAMESPACE
} // namespace nodewise::measure
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace nodewise::measure {

HWY_EXPORT(run);
HWY_EXPORT(target);

namespace {

/// Hides s from the optimiser, which would turn s=-1 into a change of sign and 7 into a memset.
double scalar_of(kernel_id id) noexcept {
  const volatile double s = id == kernel_id::store || id == kernel_id::store_nt ? stored_value
                            : id == kernel_id::update                           ? update_factor
                                                                                : factor;
  return s;
}

} // namespace

double run_kernel(kernel_id id, const operands& part) noexcept {
  return HWY_DYNAMIC_DISPATCH(run)(id, part, scalar_of(id));
}

std::int64_t chosen_target() noexcept {
  return HWY_DYNAMIC_DISPATCH(target)();
}

} // namespace nodewise::measure

#endif
