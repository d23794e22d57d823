// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The options of `nodewise profile` that no other verb has.
#pragma once

#include "cli/flags.hpp"

namespace nodewise::cli::flags {

inline constexpr flag duration{.name = "duration",
                               .kind = flag_kind::value,
                               .value = "SECONDS",
                               .standard = "to its end",
                               .group = group::looking,
                               .help = "of a process that runs already: how long to watch it"};

} // namespace nodewise::cli::flags
