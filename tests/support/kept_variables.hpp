// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdlib>
#include <initializer_list>
#include <map>
#include <optional>
#include <string>

namespace nodewise::test {

/// Variables of the environment that a test may change: as they were when it ends, however it ends,
/// for the tests behind it in the same process.
class kept_variables {
 public:
  kept_variables(std::initializer_list<const char*> names) {
    for (const char* const name : names) {
      const char* const value = std::getenv(name);
      kept_[name] = value == nullptr ? std::optional<std::string>{} : std::string(value);
    }
  }
  kept_variables(const kept_variables&) = delete;
  kept_variables& operator=(const kept_variables&) = delete;
  ~kept_variables() {
    for (const auto& [name, value] : kept_) {
      value ? ::setenv(name.c_str(), value->c_str(), 1) : ::unsetenv(name.c_str());
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> kept_;
};

} // namespace nodewise::test
