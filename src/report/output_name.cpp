// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/output_name.hpp"

#include <array>
#include <cstdlib>

#include <unistd.h>

#include <nodewise/error.hpp>

#include "base/local_rank.hpp"

namespace nodewise::report {

namespace {

[[noreturn]] void refuse(std::string_view pattern, const std::string& answered,
                         const std::string& hint) {
  throw error(error_kind::usage, "the output name '" + std::string(pattern) + "'", answered, hint);
}

const std::string& rank_of(const output_facts& facts, std::string_view pattern) {
  if (!facts.local_rank) {
    refuse(pattern, "%r is the local MPI rank, and no MPI launcher has set one",
           "start it with mpirun or srun, or use %p (process) instead");
  }
  return *facts.local_rank;
}

} // namespace

std::optional<std::string> local_mpi_rank() {
  const auto rank =
      find_local_rank([](const char* name) -> const char* { return std::getenv(name); });
  return rank ? std::optional(std::to_string(rank->number)) : std::nullopt;
}

output_facts output_facts::of_this_process() {
  std::array<char, 256> name{};
  const bool known = ::gethostname(name.data(), name.size() - 1) == 0;
  return {local_mpi_rank(), known ? std::string(name.data()) : "unknown-host",
          static_cast<int>(::getpid())};
}

std::string output_name(std::string_view pattern, const output_facts& facts) {
  std::string name;
  for (std::size_t at = 0; at < pattern.size(); ++at) {
    if (pattern[at] != '%') {
      name += pattern[at];
      continue;
    }
    ++at;
    const char letter = at < pattern.size() ? pattern[at] : '\0';
    switch (letter) {
    case '%':
      name += '%';
      break;
    case 'h':
      name += facts.host;
      break;
    case 'p':
      name += std::to_string(facts.pid);
      break;
    case 'r':
      name += rank_of(facts, pattern);
      break;
    default:
      refuse(pattern,
             letter == '\0' ? "it ends in %" : "%" + std::string(1, letter) + " means nothing",
             "%r is the local MPI rank, %h the host, %p the process, %% a percent sign");
    }
  }
  return name;
}

} // namespace nodewise::report
