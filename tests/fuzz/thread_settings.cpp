// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Variables that say where threads and ranks run: OMP_PLACES, GOMP_CPU_AFFINITY, Slurm's list of
// tasks.
#include <string>

#include "base/environment.hpp"
#include "bind/conflicts.hpp"
#include "fuzz/fuzz.hpp"

using namespace nodewise;

namespace {

std::string slurm_tasks; ///< the input at hand: the environment is read through a plain function

const char* environment_of_a_task(const char* name) {
  const std::string_view asked = name;
  return asked == "SLURM_LOCALID"          ? "0"
         : asked == "SLURM_NODEID"         ? "3"
         : asked == "SLURM_TASKS_PER_NODE" ? slurm_tasks.c_str()
                                           : nullptr;
}

} // namespace

std::vector<std::string> fuzz::seeds() {
  return {"{0},{1}",
          "{0:4},{4:4}",
          "{0:4:2}",
          "{0,1}:3:4",
          "{0:8,!2},!{3}",
          "cores(4)",
          "0 3 1-2",
          "4-15:2,7",
          "{7}:8:-1",
          "4(x2),3",
          "2(x4)",
          "1,1,1",
          "explicit,proclist=[0,{2,3},4-8:2]"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  for (const auto& listed : {bind::listed_places(text), bind::listed_gomp_affinity(text),
                             bind::listed_kmp_affinity(text)}) {
    fuzz::require(!listed || listed->highest() <= max_id);
  }
  slurm_tasks = text;
  const auto rank = find_local_rank(environment_of_a_task);
  fuzz::require(rank && rank->number == 0 && (!rank->count || *rank->count > 0));
  const bind::settings said = {{"OMP_PLACES", std::string(text)},
                               {"GOMP_CPU_AFFINITY", std::string(text)},
                               {"KMP_AFFINITY", std::string(text)},
                               {"OMP_NUM_THREADS", std::string(text)}};
  for (const bind::conflict& each : bind::find_conflicts(said, {cpu_id{0}, cpu_id{1}})) {
    fuzz::require(!each.said.empty() && !each.outcome.empty() && !each.hint.empty());
  }
  return 0;
}
