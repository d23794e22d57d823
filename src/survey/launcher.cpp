// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/launcher.hpp"

#include <algorithm>
#include <array>

#include "base/numbers.hpp"

namespace nodewise::survey {

namespace {

struct launcher_row : launcher_words {
  // Variables; nullptr if the launcher has none for this.
  const char* rank;
  const char* ranks;
  const char* job;
  const char* step = nullptr; ///< a part of the job
};

// In order of preference. Open MPI and Hydra come first: under them, Slurm's variables are those of
// their daemons.
constexpr std::array<launcher_row, 8> launchers = {{
    {{"openmpi", "Open MPI", "mpirun --bind-to none", true},
     "OMPI_COMM_WORLD_RANK",
     "OMPI_COMM_WORLD_SIZE",
     "PMIX_NAMESPACE"},
    {{"mvapich", "MVAPICH"}, "MV2_COMM_WORLD_RANK", "MV2_COMM_WORLD_SIZE", nullptr},
    {{"pals", "PALS", "mpiexec --cpu-bind none"}, "PALS_RANKID", nullptr, "PALS_APID"},
    {{"flux", "Flux", "flux run -o cpu-affinity=off"},
     "FLUX_TASK_RANK",
     "FLUX_JOB_SIZE",
     "FLUX_JOB_ID"},
    {{"slurm", "Slurm", "srun --cpu-bind=none", true},
     "SLURM_PROCID",
     "SLURM_STEP_NUM_TASKS",
     "SLURM_JOB_ID",
     "SLURM_STEP_ID"},
    {{"hydra", "MPICH's mpiexec", "mpiexec", true}, "PMI_RANK", "PMI_SIZE", nullptr},
    {{"pmix"}, "PMIX_RANK", nullptr, "PMIX_NAMESPACE"},
    {{"lsf", "LSF"}, "LSF_PM_TASKID", nullptr, "LSB_JOBID"},
}};

std::string text_of(environment get, const char* name) {
  const char* const value = name == nullptr ? nullptr : get(name);
  return value == nullptr ? "" : value;
}

std::optional<int> number_of(environment get, const char* name) {
  const auto value = parse_number<int>(text_of(get, name));
  return value && *value >= 0 ? value : std::nullopt;
}

/// Hydra sets PMI_RANK, and so does Slurm with its own PMI; only Hydra sets the local rank.
bool is_inside_hydra(environment get) {
  return number_of(get, "MPI_LOCALRANKID") && number_of(get, "PMI_RANK");
}

} // namespace

launcher_words words_of(std::string_view launcher) noexcept {
  const auto found = std::ranges::find(launchers, launcher, &launcher_row::launcher);
  return found == launchers.end() ? launcher_words{} : launcher_words(*found);
}

launched_rank find_launched_rank(environment get) {
  launched_rank made;
  for (const launcher_row& each : launchers) {
    const auto rank = number_of(get, each.rank);
    if (!rank || (each.launcher == "slurm" && is_inside_hydra(get))) {
      continue;
    }
    made.launcher = each.launcher;
    made.rank = *rank;
    made.ranks = number_of(get, each.ranks);
    const std::string job = text_of(get, each.job);
    const std::string step = text_of(get, each.step);
    made.job = job.empty() ? "-" : job + (step.empty() ? "" : "." + step);
    if (made.ranks && *made.ranks <= made.rank) {
      made.ranks.reset(); // of another job
    }
    const auto local = find_local_rank(get);
    made.local = local ? std::optional(local->number) : std::nullopt;
    return made;
  }
  made.ranks = 1;
  made.local = 0;
  return made;
}

} // namespace nodewise::survey
