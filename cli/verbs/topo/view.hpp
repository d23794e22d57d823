// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the forms of the result of `nodewise topo` are written from.
#pragma once

#include "cli/machine/source.hpp"

namespace nodewise::cli {

struct shown_machine {
  measured_machine found;
  bool is_here = false; ///< this system's settings belong to it
};

} // namespace nodewise::cli
