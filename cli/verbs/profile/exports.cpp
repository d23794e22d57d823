// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The forms of a profile that other tools read.
#include <nlohmann/json.hpp>

#include "cli/verbs/profile/flags.hpp"
#include "cli/verbs/profile/result.hpp"
#include "exports/pprof.hpp"
#include "exports/trace.hpp"
#include "report/envelope.hpp"

namespace nodewise::cli {

std::string advice_pprof(const reported_advice& reported) {
  const profile::profile& what = reported.profiled.what;
  return exports::pprof(what, {reported.profiled.on.machine().name, reported.on.name,
                               advise::remote_waits_s(what, topology(reported.on))});
}

std::string advice_trace(const reported_advice& reported) {
  return report::json_text(
      exports::trace(reported.profiled.what, reported.profiled.on.machine().name));
}

} // namespace nodewise::cli
