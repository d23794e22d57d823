// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "cli/jobs/host_picture.hpp"
#include "cli/verbs/survey/flags.hpp"
#include "cli/verbs/survey/view.hpp"
#include "report/envelope.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using report::add_if_any;
using report::json_list;

ordered_json job_fix_json(const survey::fix& of) {
  ordered_json made = {{"meaning", of.meaning}};
  add_if_any(made, "line", of.line);
  return made;
}

ordered_json job_finding_json(const survey::finding& of, const surveyed_job& job) {
  return {{"what", survey::name_of(of.what)},
          {"evidence", of.evidence},
          {"ranks", of.ranks},
          {"hosts", of.hosts},
          {"fixes", json_list(job.fixes_of(of), job_fix_json)}};
}

ordered_json host_json(const survey::surveyed_host& of) {
  return {{"host", of.name},
          {"machine", of.machine},
          {"ranks", json_list(of.ranks, [](const survey::rank_record* rank) {
             return survey::record_json(*rank);
           })}};
}

} // namespace

std::string survey_json(const surveyed_job& what) {
  const survey::job& job = what.what;
  ordered_json made = {{"schema", "nodewise/survey/1"},
                       {"nodewise", NODEWISE_VERSION},
                       {"job", job.name},
                       {"launcher", job.launcher},
                       {"ranks", report::or_unavailable(job.ranks)},
                       {"surveyed", job.surveyed()},
                       {"missing", job.missing},
                       {"problems", job.problems}};
  made["findings"] = json_list(
      what.findings, [&](const survey::finding& each) { return job_finding_json(each, what); });
  made["pictures"] = json_list(patterns_of(job), [](const host_pattern& each) -> ordered_json {
    return {{"hosts", each.names}};
  });
  made["hosts"] = json_list(job.hosts, host_json);
  return report::json_text(made);
}

} // namespace nodewise::cli
