// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "plan/plan.hpp"

namespace nodewise::plans {

std::string label_of(const condition& which) {
  if (!which.source.empty()) {
    return which.source;
  }
  if (which.symbol) {
    return *which.symbol;
  }
  if (!which.stack.empty()) {
    return text_of(which.stack.front());
  }
  return which.kind.empty() ? "any" : which.kind;
}

std::string label_of(const entry& what) {
  return what.name.empty() ? label_of(what.which) : what.name;
}

} // namespace nodewise::plans
