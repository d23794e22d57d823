// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "launch/planning.hpp"

#include <utility>

#include <fmt/core.h>

#include "launch/not_started.hpp"

namespace nodewise::launch {

void planning::warn(std::string warning, const std::string& asked, const std::string& answered,
                    const std::string& hint) const {
  if (options.strict) {
    throw not_started(not_started::refused, asked, answered, hint);
  }
  into.warnings.push_back(std::move(warning));
}

void planning::cannot(const std::string& asked, const std::string& answered,
                      const std::string& hint, const std::string& instead) const {
  warn(fmt::format("{}: {}; {} ({})", asked, answered, instead, hint), asked, answered, hint);
}

void planning::set(const char* name, std::string value) const {
  const char* const before = get(name);
  if (before != nullptr && before != value) {
    const std::string was = fmt::format("{}={}", name, before);
    warn(fmt::format("{} replaced by {}", was, value), was,
         fmt::format("the options request {}", value), "unset it");
  }
  into.variables.push_back({name, std::move(value)});
}

} // namespace nodewise::launch
