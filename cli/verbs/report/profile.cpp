// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/profile.hpp"

#include <algorithm>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "profile/first_rows.hpp"
#include "profile/profile_json.hpp"
#include "report/style.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using html::cell_kind;

std::optional<double> remote_share(const profile_parts& of) {
  double all = 0;
  double remote = 0;
  for (const auto& [nodes, amount] : of.between) {
    all += amount;
    remote += nodes.first == nodes.second ? 0 : amount;
  }
  return all > 0 ? std::optional(remote / all) : std::nullopt;
}

/// A sentence: how much is remote, and what the best cure is expected to bring.
std::string verdict_of(const profile_parts& of) {
  const auto remote = remote_share(of);
  std::string made =
      remote ? fmt::format("{} of the {} memory traffic goes to another node",
                           report::format_percent(*remote), of.is_counted() ? "counted" : "sampled")
             : "How much memory traffic goes to another node was not observed";
  if (of.found.findings.empty()) {
    return made + "; nothing was found that would make the program faster.";
  }
  const bool has_plan = !of.found.plans.empty();
  const advise::gain& worth =
      has_plan ? of.found.plans.front().worth : of.found.findings.front().worth;
  if (worth.how == advise::gain::kind::unavailable) {
    return made + "; there are findings, but no prediction of their gain.";
  }
  return made + fmt::format("; {} makes the {} up to {:.2f}x faster (predicted){}.",
                            has_plan ? "a plan" : "the first fix",
                            of.is_counted() ? "phase after initialisation" : "observed part",
                            worth.ratio, has_plan ? ", without changing the program" : "");
}

/// The array with the most remote traffic, in words.
std::string worst_array(const profile_parts& of) {
  const shown_array& worst = *std::ranges::max_element(of.arrays, {}, &shown_array::remote);
  const double used = of.used();
  std::string made =
      fmt::format("{}, {}: {} of the traffic, {} of it remote", worst.name,
                  report::format_bytes(worst.bytes), report::format_percent(worst.used / used),
                  report::format_percent(worst.remote_share(), "unknown"));
  if (!worst.touched_at.empty()) {
    made += "; first touched at " + worst.touched_at;
  }
  const std::size_t nodes = worst.used_by.size();
  return made + fmt::format("; used by threads on {}", counted(nodes, "node"));
}

std::vector<std::pair<std::string, std::string>> facts_of(const profile_parts& of) {
  std::vector<std::pair<std::string, std::string>> all = {
      {"command", joined(of.what.command, " ", shell_word)},
      {"machine", of.is_counted() ? machine_name_of(of.on.machine()) +
                                        ", as a virtual machine: traffic was counted, times are "
                                        "predictions for the real one"
                                  : machine_name_of(of.on.machine())}};
  if (!of.arrays.empty() && of.arrays.front().remote > 0) {
    all.emplace_back("worst array", worst_array(of));
  }
  return all;
}

} // namespace

void add_threads(const profile_parts& of, report_page& into) {
  html::section& made = into.add_section("threads", "Threads");
  html::table all{"Where threads were seen at work",
                  {{"program"},
                   {"thread"},
                   {"home node", cell_kind::number},
                   {"seen on"},
                   {"changes of processor", cell_kind::number},
                   {"began", cell_kind::number}},
                  {}};
  for (const profile::program& program : of.what.programs) {
    for (const profile::thread& each : program.threads) {
      const node_id home = each.home();
      all.rows.push_back(
          {program.name, each.main ? "main" : fmt::format("{} {}", each.name, each.tid),
           home == unknown_node ? "unknown" : fmt::format("{}", home),
           joined(each.stays, ", ",
                  [](const profile::thread::stay& stay) {
                    return fmt::format(
                        "{} {}",
                        stay.node == unknown_node ? "unknown" : fmt::format("node {}:", stay.node),
                        counted(stay.samples, "sample"));
                  }),
           fmt::format("{}", each.migrations), fmt::format("{:.3f} s", each.began_s)});
    }
  }
  made.long_table(into.add_table("threads", all), all);
}

void add_evidence(const profile_parts& of, std::vector<std::string> unavailable,
                  report_page& into) {
  html::section& made = into.add_section("evidence", "What was seen, and what was not");
  const profile::evidence& seen = of.what.seen;
  made.facts(
      {{"memory traffic", seen.counts ? "counted" : "not counted"},
       {"first touches", seen.faults ? counted(seen.fault_samples, "sample") : "not sampled"},
       {"sampled accesses", seen.hinting  ? counted(seen.hinting_samples, "sample")
                            : seen.counts ? "none: all were counted"
                                          : "none"},
       {"samples lost", fmt::format("{}", seen.lost_samples)},
       {"observer", fmt::format("{:.2f} s of processor time during a run of {:.2f} s",
                                of.what.cost.observer_s, of.what.cost.wall_s)}});
  std::vector<std::string> missing = seen.missing;
  std::ranges::move(unavailable, std::back_inserter(missing));
  if (!missing.empty()) {
    made.heading("Not seen");
    made.list(missing);
  }
  std::vector<std::string> rest;
  for (const advise::unexamined& each : of.found.not_asked) {
    rest.push_back(fmt::format("{}: {}", advise::name_of(each.what), each.missing));
  }
  if (!rest.empty()) {
    made.heading("Not checked");
    made.list(rest);
  }
  if (!of.found.remarks.empty()) {
    made.heading("Assumptions");
    made.list(of.found.remarks);
  }
  made.remark("All gains are predictions of a model. The only proof is a run with the fix.");
}

profile::profile profile_in(const json_field& document) {
  check_schema(document, profile::schema, profile::older_schema);
  profile::profile what = profile::profile_from_json(document);
  for (profile::program& each : what.programs) {
    profile::join_first_rows(each, what.page_bytes);
  }
  return what;
}

void add_profile(const json_field& document, report_page& into) {
  const profile::profile what = profile_in(document);
  const topology on(machine_from_json(document.at("machine")));
  const advise::advice found = advise::advise(what, on);
  profile_parts parts{what, on, found};
  parts.arrays = shown_arrays(what, &parts.between);
  for (const advise::proposal& plan : found.plans) {
    parts.planned.try_emplace(plan.program, plan.plan, on, what.programs[plan.program]);
  }
  add_summary(parts, into, into.set_verdict(verdict_of(parts), facts_of(parts)));
  add_machine_section(on, {}, into);
  add_findings(parts, into);
  add_arrays(parts, into);
  add_traffic(parts, into);
  std::vector<std::string> unavailable = add_over_time(parts, into);
  add_threads(parts, into);
  add_lines(parts, into);
  add_evidence(parts, std::move(unavailable), into);
}

} // namespace nodewise::cli
