// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <set>
#include <span>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/verbs/report/fields.hpp"
#include "cli/verbs/report/pages.hpp"

namespace nodewise::cli {

namespace {

constexpr std::array<std::string_view, 2> page_resolutions = {"page", "reduced"};

double bytes_of_pages(const json_field& pages, double page_bytes) {
  return static_cast<double>(pages.whole_number()) * page_bytes;
}

shown_mapping mapping_in(const json_field& field, double page_bytes) {
  shown_mapping made{.name = field.at("name").text(),
                     .kind = field.at("kind").text(),
                     .start = field.at("start").text(),
                     .bytes = static_cast<double>(field.at("bytes").whole_number()),
                     .on = {}};
  for (const json_field& each : field.at("per_node").elements()) {
    made.on[node_id{each.at("node").small_number(0, max_id)}] +=
        bytes_of_pages(each.at("pages"), page_bytes);
  }
  if (const double unknown = bytes_of_pages(field.at("unknown"), page_bytes); unknown > 0) {
    made.on[unknown_node] = unknown;
  }
  made.zero_bytes = bytes_of_pages(field.at("zero"), page_bytes);
  made.local = known_amount_in(field.at("local"));
  std::vector<std::string> policies;
  for (const json_field& each : field.at("policies").elements()) {
    policies.push_back(each.at("policy").text());
  }
  constexpr std::size_t most = 3;
  made.policies = joined(std::span(policies).first(std::min(most, policies.size())), ", ") +
                  (policies.size() > most ? fmt::format(", {} more", policies.size() - most) : "");
  return made;
}

std::string threads_words(const json_field& threads) {
  std::set<int> nodes;
  bool unknown = false;
  for (const json_field& each : threads.elements()) {
    const json_field node = each.at("node");
    if (node.is_text()) {
      unknown = true;
    } else {
      nodes.insert(node.small_number(0, max_id));
    }
  }
  return fmt::format("{}, last seen on node{} {}{}", counted(threads.elements().size(), "thread"),
                     nodes.size() == 1 ? "" : "s", joined(nodes, ", "),
                     unknown ? (nodes.empty() ? "unknown" : ", unknown") : "");
}

shown_process process_in(const json_field& field) {
  shown_process made{
      .name = fmt::format("{}: {}", field.at("pid").whole_number(1), field.at("command").text()),
      .method = field.at("method").text(),
      .reduced = field.at("resolution").one_of(page_resolutions) == 1,
      .on = {}};
  made.threads = threads_words(field.at("threads"));
  made.notes = texts_in(field.at("notes"));
  const auto page_bytes = static_cast<double>(field.at("page_bytes").whole_number(1));
  double known = 0;
  double local = 0;
  for (const json_field& each : field.at("areas").elements()) {
    const shown_mapping& one = made.mappings.emplace_back(mapping_in(each, page_bytes));
    for (const auto& [node, bytes] : one.on) {
      made.on[node] += bytes;
      if (one.local && node != unknown_node) {
        known += bytes;
        local += bytes * *one.local;
      }
    }
  }
  made.local = known > 0 ? std::optional(local / known) : std::nullopt;
  return made;
}

} // namespace

std::vector<shown_sample> samples_in(const json_field& document) {
  std::vector<shown_sample> all;
  for (const json_field& each : document.at("samples").elements()) {
    shown_sample& one = all.emplace_back();
    one.time_s = each.at("time_s").number();
    for (const json_field& process : each.at("processes").elements()) {
      one.processes.push_back(process_in(process));
    }
  }
  return all;
}

} // namespace nodewise::cli
