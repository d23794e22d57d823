// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The verbs, in the order of `nodewise --help`.
#include "cli/verbs/doctor/help.hpp"
#include "cli/verbs/drop_cache/help.hpp"
#include "cli/verbs/help/help.hpp"
#include "cli/verbs/lab/help.hpp"
#include "cli/verbs/measure/help.hpp"
#include "cli/verbs/model/help.hpp"
#include "cli/verbs/pages/help.hpp"
#include "cli/verbs/profile/help.hpp"
#include "cli/verbs/report/help.hpp"
#include "cli/verbs/run/help.hpp"
#include "cli/verbs/survey/help.hpp"
#include "cli/verbs/topo/help.hpp"
#include "cli/verbs/tune/help.hpp"
#include "cli/verbs/warm/help.hpp"

namespace nodewise::cli {

namespace {

constexpr std::array table = {topo_verb,   run_verb,  doctor_verb, pages_verb,   profile_verb,
                              report_verb, tune_verb, survey_verb, measure_verb, drop_cache_verb,
                              warm_verb,   lab_verb,  model_verb,  help_verb,    internal_verb};

} // namespace

std::span<const verb> all_verbs() noexcept {
  return table;
}

std::span<const flag* const> command_flags() noexcept {
  return every_verb;
}

} // namespace nodewise::cli
