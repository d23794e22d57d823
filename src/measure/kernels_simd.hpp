// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Internal: the loops themselves, compiled for every instruction set.
#pragma once

#include <cstdint>

#include "measure/operands.hpp"

namespace nodewise::measure {

/// What `store` writes. Not 0: processors may drop stores of zeros over zeros.
inline constexpr double stored_value = 7;
/// s of scale and triad, as in STREAM.
inline constexpr double factor = 3;
/// s of update: sweeps cannot overflow, and the values show whether their number is even or odd.
inline constexpr double update_factor = -1;

double run_kernel(kernel_id, const operands&) noexcept;

/// Highway's bit of the instruction set in use.
std::int64_t chosen_target() noexcept;

} // namespace nodewise::measure
