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

inline constexpr flag write_plan{.name = "write-plan",
                                 .kind = flag_kind::value,
                                 .value = "FILE",
                                 .group = group::advice,
                                 .help = "write the cure to FILE: nodewise run --plan FILE applies "
                                         "it to the same program"};

inline constexpr flag prove{.name = "prove",
                            .group = group::advice,
                            .help = "run the program again with the plan and count its traffic; "
                                    "needs --on, where it is the default"};
inline constexpr flag no_prove{.name = "no-prove",
                               .group = group::advice,
                               .help = "with --on: do not run the program again with the plan"};

} // namespace nodewise::cli::flags
