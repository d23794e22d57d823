// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/output_name.hpp"

#include <array>
#include <cstdlib>

#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/environment.hpp"

namespace nodewise::report {

std::optional<std::string> local_mpi_rank() {
  const auto rank = find_local_rank(process_environment);
  return rank ? std::optional(std::to_string(rank->number)) : std::nullopt;
}

output_facts output_facts::of_this_process() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
  return {local_mpi_rank(), known ? std::string(name.data()) : "unknown-host",
          static_cast<int>(::getpid())};
}

std::string output_name(std::string_view pattern, const output_facts& facts) {
  const auto refuse = [&](const std::string& answered, const char* hint) {
    throw error(error_kind::usage, fmt::format("the output name '{}'", pattern), answered, hint);
  };
  std::string name;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    const std::string_view letter = pattern.substr(++at, 1);
    if (letter == "%") {
      name += '%';
    } else if (letter == "h") {
      name += facts.host;
    } else if (letter == "p") {
      name += std::to_string(facts.pid);
    } else if (letter == "r" && facts.local_rank) {
      name += *facts.local_rank;
    } else if (letter == "r") {
      refuse("%r is the local MPI rank, but no MPI launcher has set it",
             "start the command with mpirun or srun, or use %p (process) instead");
    } else {
      refuse(letter.empty() ? "it ends in %" : fmt::format("%{} is unknown", letter),
             "%r is the local MPI rank, %h the host, %p the process, %% a percent sign");
    }
  }
  return name;
}

} // namespace nodewise::report
