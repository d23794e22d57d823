// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <optional>

namespace nodewise {

/// Reads an environment variable: std::getenv, or a test's substitute. nullptr if it is not set.
using environment = const char* (*)(const char* name);

/// That of this process; none in a program with more rights than its user (secure_getenv(3)).
[[nodiscard]] const char* process_environment(const char* name);

/// Which of the processes that an MPI launcher started on this host is this one?
struct local_rank {
  int number = 0;
  std::optional<int> count;       ///< the job's processes on this host, if the launcher sets it
  const char* variable = nullptr; ///< the one that holds the number
};

/// The variables that hold the local rank and the number of local ranks.
struct rank_variables {
  const char* number;
  const char* count; ///< nullptr: PMIx has none, and Slurm has lists
};
/// In order of preference, the documented one (docs/run.md). Open MPI's come first: under srun,
/// mpirun's children inherit the SLURM_LOCALID of mpirun's daemon.
inline constexpr std::array<rank_variables, 6> local_rank_variables = {{
    {"OMPI_COMM_WORLD_LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_SIZE"},
    {"SLURM_LOCALID", nullptr},
    {"MPI_LOCALRANKID", "MPI_LOCALNRANKS"},
    {"PMIX_LOCAL_RANK", nullptr},
    {"PALS_LOCAL_RANKID", "PALS_LOCAL_SIZE"},
    {"MV2_COMM_WORLD_LOCAL_RANK", "MV2_COMM_WORLD_LOCAL_SIZE"},
}};

/// nullopt outside MPI. A value that is not a number is ignored.
[[nodiscard]] std::optional<local_rank> find_local_rank(environment get);

} // namespace nodewise
