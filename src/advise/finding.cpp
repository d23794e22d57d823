// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/finding.hpp"

#include <algorithm>
#include <array>

namespace nodewise::advise {

namespace {

std::string name_with(char between, pattern what) {
#define NODEWISE_PATTERN(name) #name,
  constexpr std::array<std::string_view, patterns> names = {NODEWISE_PATTERNS(NODEWISE_PATTERN)};
#undef NODEWISE_PATTERN
  std::string name(names[static_cast<std::size_t>(what)]);
  std::ranges::replace(name, '_', between);
  return name;
}

} // namespace

std::string to_string(pattern what) {
  return name_with('-', what);
}

std::string name_of(pattern what) {
  return name_with(' ', what);
}

} // namespace nodewise::advise
