// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/environment.hpp"

namespace nodewise::survey {

/// What the variables of a launcher say of this process.
struct launched_rank {
  std::string launcher;  ///< as `rank_record::launcher`; empty outside a job
  std::string job = "-"; ///< "-" if the launcher does not name the job
  int rank = 0;
  std::optional<int> ranks;
  std::optional<int> local;
};

/// What texts about a launcher need.
struct launcher_words {
  std::string_view launcher = {}; ///< as `rank_record::launcher`
  std::string_view name = {};     ///< "Open MPI"; empty: it is shown without a name
  /// The start of a line that leaves the binding of ranks to the program.
  std::string_view unbound_start = {};
  bool tried = false; ///< the lines for it were run in tests
};
/// For a launcher without a row: the empty row.
[[nodiscard]] launcher_words words_of(std::string_view launcher) noexcept;

/// Outside a job: rank 0 of 1. Of nested launchers, such as mpirun in a job of Slurm, the inner one
/// counts.
[[nodiscard]] launched_rank find_launched_rank(environment get);

} // namespace nodewise::survey
