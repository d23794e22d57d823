// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/random_numbers.hpp"

#include <cmath>

namespace nodewise::model {

std::uint64_t random_numbers::next() noexcept {
  state_ += 0x9e3779b97f4a7c15U;
  std::uint64_t z = state_;
  z = (z ^ (z >> 30U)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27U)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31U);
}

double random_numbers::uniform() noexcept {
  return static_cast<double>(next() >> 11U) * 0x1p-53;
}

double random_numbers::exponential() noexcept {
  return -std::log1p(-uniform());
}

} // namespace nodewise::model
