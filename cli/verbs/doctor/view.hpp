// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the forms of the result of `nodewise doctor` are written from.
#pragma once

#include <memory>

#include <nlohmann/json_fwd.hpp>

#include "doctor/examine.hpp"

namespace nodewise::cli {

struct examined {
  doctor::examination found;
  std::shared_ptr<const nlohmann::ordered_json> json; ///< the same; perhaps read from a file
};

} // namespace nodewise::cli
