// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "base/environment.hpp"

namespace nodewise {

/// Which of the processes that an MPI launcher started on this host is this one?
struct local_rank {
  int number = 0;
  std::optional<int> count;       ///< the job's processes on this host, if the launcher sets it
  const char* variable = nullptr; ///< the one that holds the number
};

/// The variables that hold the local rank, in order of preference: Open MPI, Slurm, MPICH and Intel
/// MPI, PMIx, PALS, MVAPICH.
[[nodiscard]] std::span<const char* const> local_rank_variables() noexcept;

/// nullopt outside MPI. A value that is not a number is ignored.
[[nodiscard]] std::optional<local_rank> find_local_rank(environment get);

} // namespace nodewise
