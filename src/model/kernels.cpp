// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "model/loop.hpp"

namespace nodewise::model {

namespace {

constexpr array_use r{.read = true};
constexpr array_use w{.written = true};
constexpr array_use rw{.read = true, .written = true};

} // namespace

const std::vector<kernel>& kernels() {
  static const std::vector<kernel> all = {
      {"load", "s += a[i]", {r}},
      {"store", "a[i] = s", {w}},
      {"update", "a[i] = s * a[i]", {rw}},
      {"copy", "a[i] = b[i]", {w, r}},
      {"scale", "a[i] = s * b[i]", {w, r}},
      {"add", "a[i] = b[i] + c[i]", {w, r, r}},
      {"triad", "a[i] = b[i] + s * c[i]", {w, r, r}},
      {"daxpy", "a[i] += s * b[i]", {rw, r}},
      {"multiply-add", "a[i] += b[i] * c[i]", {rw, r, r}},
      {"schoenauer", "a[i] = b[i] + c[i] * d[i]", {w, r, r, r}},
  };
  return all;
}

const kernel* find_kernel(std::string_view name) noexcept {
  const auto found = std::ranges::find(kernels(), name, &kernel::name);
  return found == kernels().end() ? nullptr : &*found;
}

} // namespace nodewise::model
