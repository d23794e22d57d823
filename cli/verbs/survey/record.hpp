// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Runs one rank of a job and records it.
#pragma once

#include "cli/frame/invocation.hpp"
#include "launch/start.hpp"
#include "survey/launcher.hpp"
#include "survey/record.hpp"

namespace nodewise::cli {

struct recorded_rank {
  survey::rank_record record;
  launch::outcome end;
};

/// Runs the program of the command line to its end. In the child process, exceptions leave this
/// function, too.
[[nodiscard]] recorded_rank record_rank(const invocation& given,
                                        const survey::launched_rank& launched);

} // namespace nodewise::cli
