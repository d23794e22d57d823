// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The page of a job: what is wrong with it and the lines that fix it, then its hosts.
#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/jobs/host_picture.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "survey/launcher.hpp"

namespace nodewise::cli {

namespace {

constexpr std::size_t most_hosts_named = 8;
constexpr std::size_t most_hosts_drawn = 16; // pictures; the others are one sentence

std::vector<int> ranks_in(const json_field& list) {
  std::vector<int> all;
  for (const json_field& each : list.elements()) {
    all.push_back(each.small_number(0, max_id));
  }
  return all;
}

/// The records of a file are read as those of `nodewise survey DIR`, so the pages agree.
survey::job_builder records_in(const json_field& document) {
  survey::job_builder made;
  for (const json_field& host : document.at("hosts").elements()) {
    for (const json_field& rank : host.at("ranks").elements()) {
      made.add(survey::record_from_json(rank), "the file");
    }
  }
  return made;
}

void add_fixes(const json_field& finding, html::section& into) {
  for (const json_field& fix : finding.at("fixes").elements()) {
    const auto line = fix.find("line");
    into.paragraph(fix.at("meaning").text() + (line ? ":" : "."));
    if (line) {
      into.command(line->text());
    }
  }
}

void add_job_findings(const json_field& document, report_page& into) {
  const auto findings = document.at("findings").elements();
  html::section& section = into.add_section("job-findings", "What is wrong");
  for (const json_field& each : findings) {
    section.begin_card(fmt::format("{}: {}", each.at("what").text(), each.at("evidence").text()));
    std::vector<std::pair<std::string, std::string>> where;
    if (const auto ranks = ranks_in(each.at("ranks")); !ranks.empty()) {
      where.emplace_back("ranks", survey::ranks_text(ranks, most_hosts_named));
    }
    if (const auto hosts = texts_in(each.at("hosts")); !hosts.empty()) {
      where.emplace_back("hosts", survey::names_text(hosts, most_hosts_named));
    }
    section.facts(where);
    add_fixes(each, section);
    section.end_card();
  }
  if (findings.empty()) {
    section.paragraph("Nothing is wrong with the placement of threads and memory.");
  }
  if (const auto problems = texts_in(document.at("problems")); !problems.empty()) {
    section.heading("Records that were not used");
    section.list(problems);
  }
}

void add_hosts_of(const survey::job& job, report_page& into) {
  html::section& section = into.add_section("job-hosts", "The hosts");
  const std::vector<host_pattern> patterns = patterns_of(job);
  for (std::size_t i = 0; i < std::min(patterns.size(), most_hosts_drawn); ++i) {
    const host_pattern& each = patterns[i];
    const std::string names = survey::names_text(each.names, most_hosts_named);
    section.heading(
        each.names.size() == 1
            ? names
            : fmt::format("{} with this picture: {}", counted(each.names.size(), "host"), names));
    if (each.first->hardware == nullptr) {
      section.paragraph("The hardware is unknown: the record of the host's first rank is missing.");
      continue;
    }
    html::table rows{fmt::format("The nodes of {}", each.first->name),
                     {{"node", html::cell_kind::number},
                      {"cores", html::cell_kind::code},
                      {"ranks"},
                      {"threads", html::cell_kind::number},
                      {"memory", html::cell_kind::number},
                      {"of ranks here", html::cell_kind::number}},
                     host_rows(*each.first)};
    section.add(rows);
  }
  if (patterns.size() > most_hosts_drawn) {
    section.remark(fmt::format("{} more pictures: nodewise survey --json has all hosts.",
                               patterns.size() - most_hosts_drawn));
  }
  section.remark("Cores: . idle, # bound threads, x more threads than processors, - threads that "
                 "may move. Of ranks here: the share of the memory whose rank has threads on the "
                 "node.");
}

} // namespace

void add_survey(const json_field& document, report_page& into) {
  check_schema(document, "nodewise/survey/1");
  const survey::job_builder records = records_in(document);
  const survey::job job = records.build();
  const std::size_t found = document.at("findings").elements().size();
  const std::string_view launcher = survey::words_of(document.at("launcher").text()).name;
  const std::size_t missing = document.at("missing").elements().size();
  into.set_verdict(
      found == 0 ? "Nothing is wrong with the placement of threads and memory."
                 : fmt::format("{} wrong with the placement of the job.",
                               found == 1 ? "One thing is" : fmt::format("{} things are", found)),
      {{"job", job.name},
       {"launcher", launcher.empty() ? std::string(unavailable_cell) : std::string(launcher)},
       {"ranks", missing == 0 ? fmt::format("{}", job.surveyed())
                              : fmt::format("{} of {}", job.surveyed(), job.surveyed() + missing)},
       {"hosts", fmt::format("{}", job.hosts.size())}});
  add_job_findings(document, into);
  add_hosts_of(job, into);
}

} // namespace nodewise::cli
