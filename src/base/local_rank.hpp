// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <span>

#include "base/environment.hpp"

namespace nodewise {

/// Which of the processes that an MPI launcher started on this host is this one?
struct local_rank {
  int number = 0;
  std::optional<int> count;       ///< of the job's processes on this host, where the launcher says
  const char* variable = nullptr; ///< that told the number
};

/// The variables that tell the local rank, the first that is set counts: Open MPI, Slurm, MPICH and
/// Intel MPI, PMIx, PALS, MVAPICH.
[[nodiscard]] std::span<const char* const> local_rank_variables() noexcept;

/// nullopt outside MPI. What is no number is not believed.
[[nodiscard]] std::optional<local_rank> find_local_rank(environment get);

} // namespace nodewise
