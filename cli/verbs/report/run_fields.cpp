// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>

#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/run.hpp"

namespace nodewise::cli {

namespace {

std::string text_or_empty(const json_field& of, std::string_view key) {
  const auto found = of.find(key);
  return found ? found->text() : "";
}

std::string object_name(const json_field& of) {
  for (const std::string_view key : {"name", "site"}) {
    if (const auto found = of.find(key)) {
      return found->text();
    }
  }
  if (const auto caller = of.find("caller")) {
    return fmt::format("{}+{:#x}", caller->at("module").text(),
                       caller->at("offset").whole_number());
  }
  return fmt::format("object {}", of.at("sequence").whole_number());
}

/// Parts that are not in memory are gaps; those on several nodes are not known.
drawing::strip strip_in(const json_field& parts, std::uint64_t pages) {
  constexpr std::size_t most_parts = 64;
  drawing::strip made{"pages are on", {}};
  const std::vector<json_field> all = parts.elements();
  if (all.size() > most_parts) {
    parts.refuse("it has more than 64 parts", "use a file that nodewise wrote");
  }
  const auto begin_of = [&](std::size_t i) {
    return pages / all.size() * i + pages % all.size() * i / all.size();
  };
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::uint64_t first = begin_of(i);
    const std::uint64_t count = begin_of(i + 1) - first;
    if (all[i].is_text() && all[i].text() == "not resident") {
      continue;
    }
    const node_id node = all[i].is_text() ? unknown_node : node_id{all[i].small_number(0, max_id)};
    if (count > 0) {
      made.runs.push_back({first, count, {{node, 1}}});
    }
  }
  return made;
}

shown_object object_in(const json_field& field, const std::string& process) {
  shown_object made{.process = process,
                    .name = object_name(field),
                    .bytes = static_cast<double>(field.at("bytes").whole_number()),
                    .pages = field.at("pages").whole_number(),
                    .pages_on = {},
                    .local = known_amount_in(field.at("local")),
                    .as_asked = known_amount_in(field.at("as_asked")),
                    .refused = text_or_empty(field, "not_placed"),
                    .where = {}};
  for (const json_field& each : field.at("per_node").elements()) {
    const auto pages = static_cast<double>(each.at("pages").whole_number());
    made.pages_on[node_id{each.at("node").small_number(0, max_id)}] += pages;
    made.located += pages;
  }
  made.where = strip_in(field.at("strip"), made.pages);
  return made;
}

shown_run_thread thread_in(const json_field& field, const std::string& process) {
  return {.process = process,
          .name = field.at("main").truth() ? "main" : field.at("name").text(),
          .cpus = field.at("cpus").text(),
          .bound_by = field.at("own_affinity").truth() ? "the program"
                      : field.at("pinned").truth()     ? "nodewise"
                                                       : ""};
}

shown_plan_entry entry_in(const json_field& field) {
  shown_plan_entry made{.label = text_or_empty(field, "label"),
                        .placement = text_or_empty(field, "placement"),
                        .left_out = text_or_empty(field, "left_out")};
  if (const auto objects = field.find("objects")) {
    made.objects = objects->whole_number();
  }
  if (const auto share = field.find("as_asked")) {
    made.as_asked = known_amount_in(*share);
  }
  return made;
}

void read_plan(const json_field& plan, shown_run& into) {
  into.plan = text_or_empty(plan, "file");
  if (const std::string problem = text_or_empty(plan, "problem"); !problem.empty()) {
    into.warnings.push_back("the plan was not used: " + problem);
  }
  if (const auto entries = plan.find("entries")) {
    for (const json_field& each : entries->elements()) {
      into.entries.push_back(entry_in(each));
    }
  }
}

} // namespace

shown_run run_in(const json_field& document) {
  shown_run made{.command = command_in(document.at("command")),
                 .placement = document.at("asked").at("memory").at("placement").text(),
                 .bind = text_or_empty(document.at("asked"), "bind"),
                 .ended = fmt::format("exit code {}", document.at("exit_code").whole_number()),
                 .as_asked = document.at("as_asked").truth(),
                 .warnings = texts_in(document.at("warnings"))};
  if (const auto signal = document.find("signal")) {
    made.ended = fmt::format("signal {}", signal->whole_number());
  }
  for (const json_field& process : document.at("processes").elements()) {
    const std::string name =
        fmt::format("{}: {}", process.at("pid").whole_number(), process.at("program").text());
    for (const json_field& each : process.at("objects").elements()) {
      made.objects.push_back(object_in(each, name));
    }
    if (const auto threads = process.find("threads")) {
      for (const json_field& each : threads->elements()) {
        made.threads.push_back(thread_in(each, name));
      }
    }
  }
  std::ranges::sort(made.objects, [](const shown_object& a, const shown_object& b) {
    return std::tuple(-a.bytes, std::string_view(a.process), std::string_view(a.name)) <
           std::tuple(-b.bytes, std::string_view(b.process), std::string_view(b.name));
  });
  if (const auto plan = document.find("plan")) {
    read_plan(*plan, made);
  }
  return made;
}

} // namespace nodewise::cli
