// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "base/local_rank.hpp"

#include <array>
#include <charconv>
#include <string_view>

namespace nodewise {

namespace {

// The order is the documented one (docs/run.md). Open MPI's comes first: under srun, mpirun's
// children inherit the SLURM_LOCALID of mpirun's daemon.
constexpr std::array rank_variables = {"OMPI_COMM_WORLD_LOCAL_RANK",
                                       "SLURM_LOCALID",
                                       "MPI_LOCALRANKID",
                                       "PMIX_LOCAL_RANK",
                                       "PALS_LOCAL_RANKID",
                                       "MV2_COMM_WORLD_LOCAL_RANK"};
/// The number of local ranks, in the same order; Slurm's is a list, and PMIx has none.
constexpr std::array<const char*, rank_variables.size()> count_variables = {
    "OMPI_COMM_WORLD_LOCAL_SIZE", nullptr, "MPI_LOCALNRANKS", nullptr, "PALS_LOCAL_SIZE",
    "MV2_COMM_WORLD_LOCAL_SIZE"};
constexpr std::size_t slurm = 1;

/// Takes a number off the front.
std::optional<int> take_number(std::string_view& text) {
  int number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (code != std::errc{} || number < 0) {
    return std::nullopt;
  }
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

std::optional<int> whole_number(const char* value) {
  std::string_view text = value == nullptr ? std::string_view{} : std::string_view{value};
  const auto number = take_number(text);
  return text.empty() ? number : std::nullopt;
}

bool take(std::string_view& text, std::string_view expected) {
  const bool there = text.starts_with(expected);
  text.remove_prefix(there ? expected.size() : 0);
  return there;
}

/// "4(x2),3": 4 tasks on each of the first two hosts, 3 on the third.
std::optional<int> tasks_of_host(std::string_view list, int host) {
  do {
    const auto tasks = take_number(list);
    int hosts = 1;
    if (tasks && take(list, "(x")) {
      hosts = take_number(list).value_or(0);
      if (!take(list, ")")) {
        return std::nullopt;
      }
    }
    if (!tasks || host < hosts) {
      return tasks;
    }
    host -= hosts;
  } while (take(list, ","));
  return std::nullopt;
}

std::optional<int> slurm_count(environment get) {
  // The step's count is preferred: the job's tasks may be split between steps.
  const int host = whole_number(get("SLURM_NODEID")).value_or(0);
  for (const char* const name :
       {"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE", "SLURM_NTASKS_PER_NODE"}) {
    if (const char* const list = get(name)) {
      if (const auto tasks = tasks_of_host(list, host)) {
        return tasks;
      }
    }
  }
  return std::nullopt;
}

} // namespace

std::span<const char* const> local_rank_variables() noexcept {
  return rank_variables;
}

std::optional<local_rank> find_local_rank(environment get) {
  for (std::size_t i = 0; i < rank_variables.size(); ++i) {
    const auto number = whole_number(get(rank_variables[i]));
    if (!number) {
      continue;
    }
    auto count = i == slurm                      ? slurm_count(get)
                 : count_variables[i] != nullptr ? whole_number(get(count_variables[i]))
                                                 : std::nullopt;
    if (count && *count <= *number) {
      count.reset(); // of another step or job
    }
    return local_rank{*number, count, rank_variables[i]};
  }
  return std::nullopt;
}

} // namespace nodewise
