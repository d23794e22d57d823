// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace nodewise::report {

/// The values of the placeholders in an output name.
struct output_facts {
  std::optional<std::string> local_rank; ///< nullopt outside MPI
  std::string host;
  int pid = 0;

  [[nodiscard]] static output_facts of_this_process();
};

/// The rank of this process among those of its job on this host, from the launcher's variables:
/// Open MPI, Slurm, Intel MPI, PMIx, PALS, MVAPICH. nullopt if none is set.
[[nodiscard]] std::optional<std::string> local_mpi_rank();

/// `-o` names: %r local MPI rank, %h host, %p process, %% a percent sign. Throws `error` (usage)
/// for other letters and for %r outside MPI.
[[nodiscard]] std::string output_name(std::string_view pattern, const output_facts& facts);

} // namespace nodewise::report
