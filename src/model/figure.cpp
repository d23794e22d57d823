// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "model/figure.hpp"

namespace nodewise::model {

std::string_view to_string(origin from) noexcept {
  switch (from) {
  case origin::measured:
    return "measured";
  case origin::published:
    return "published";
  case origin::given:
    return "given";
  case origin::assumed:
    break;
  }
  return "assumed";
}

origin origin_of(std::string_view source) noexcept {
  if (source.starts_with("measured")) {
    return origin::measured;
  }
  if (source.starts_with("given")) {
    return origin::given;
  }
  return source.starts_with("assumed") ? origin::assumed : origin::published;
}

} // namespace nodewise::model
