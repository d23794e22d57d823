// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/error.hpp>

#include <cstring>

#include <fmt/core.h>

namespace nodewise::inline v0 {

std::string errno_text(int errno_value) {
  const char* const name = strerrorname_np(errno_value);
  const char* const text = strerrordesc_np(errno_value);
  return fmt::format("{} ({})", name != nullptr ? name : fmt::format("errno {}", errno_value),
                     text != nullptr ? text : "unknown error");
}

namespace {

std::string with_errno(const std::string& answered, int errno_value) {
  if (errno_value == 0) {
    return answered;
  }
  return answered.empty() ? errno_text(errno_value) : answered + ": " + errno_text(errno_value);
}

} // namespace

error::error(error_kind kind, std::string asked, const std::string& answered, std::string hint,
             int errno_value)
    : std::runtime_error(asked + ": " + with_errno(answered, errno_value) + "; hint: " + hint),
      kind_(kind), asked_(std::move(asked)), answered_(with_errno(answered, errno_value)),
      hint_(std::move(hint)), errno_value_(errno_value) {}

} // namespace nodewise::inline v0
