// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A sanitizer makes a test up to sixty times slower, and sees in few cases what it sees in many.
// What is a matter of statistics, the release build's tests look at.
#pragma once

namespace nodewise::test {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
inline constexpr bool under_sanitizers = true;
#elif defined(__has_feature)
inline constexpr bool under_sanitizers =
    __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
inline constexpr bool under_sanitizers = false;
#endif

/// How many cases a test has, or how large its largest one is.
template <class T>
constexpr T cases(T all, T few_under_sanitizers) {
  return under_sanitizers ? few_under_sanitizers : all;
}

} // namespace nodewise::test
