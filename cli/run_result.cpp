// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/run_result.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <sys/wait.h>

#include "cli/result.hpp"
#include "report/envelope.hpp"
#include "report/strip.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using launch::object_report;
using launch::process_report;
using nlohmann::ordered_json;
using report::tone;

constexpr std::size_t max_rows = 20;

bool is_blocked(const launch::plan& asked) {
  return asked.agent && !asked.agent->observe;
}

/// Whether it is known which thread a static loop gives each page to.
bool has_owners(const launch::plan& asked) {
  return asked.agent && !asked.agent->owners.empty();
}

/// The nodes that a policy of the whole process names; nullptr where none does (local, interleave).
const node_set* asked_nodes(const launch::plan& asked) {
  const bool binds = asked.memory && (asked.memory->mode == sys::policy::bind ||
                                      asked.memory->mode == sys::policy::preferred ||
                                      asked.memory->mode == sys::policy::preferred_many);
  return binds ? &asked.memory->nodes : nullptr;
}

/// Share of the located pages that are where they were asked to be, 0..1; nothing where no page was
/// located, or where no page has a node of its own (interleaved, local).
std::optional<double> share_as_asked(const launch::plan& asked, const object_report& object) {
  if (is_blocked(asked)) {
    return object.locality();
  }
  const node_set* const nodes = asked_nodes(asked);
  if (nodes == nullptr || object.resident <= object.unknown) {
    return std::nullopt;
  }
  std::uint64_t there = 0;
  for (const object_report::share& share : object.shares) {
    there += nodes->contains(share.node) ? share.pages : 0;
  }
  return static_cast<double>(there) / static_cast<double>(object.resident - object.unknown);
}

/// Share of the located pages that are on the node of the thread that a static loop gives them;
/// nothing for an array that realloc has resized, whose owners are those of its earlier size.
std::optional<double> local_share(const launch::plan& asked, const object_report& object) {
  return has_owners(asked) && !object.resized ? object.locality() : std::nullopt;
}

/// Unknown is no success: an object whose pages could not be located is not as asked.
bool is_as_asked(const launch::plan& asked, const object_report& object) {
  if (!(is_blocked(asked) || asked_nodes(asked) != nullptr) || object.resident == 0) {
    return true;
  }
  return object.unknown == 0 && share_as_asked(asked, object) == 1.0;
}

/// Why an object is not where it should be, in a word or two.
std::string note_of(const launch::plan& asked, const object_report& object) {
  std::string note;
  if (object.map_limited) {
    note = "not placed: map limit";
  } else if (object.refused_errno != 0) {
    note = "not placed: " + errno_text(object.refused_errno);
  } else if (object.resident == 0) {
    note = is_blocked(asked) ? "placed, never touched" : "never touched";
  }
  if (object.resized) {
    note += note.empty() ? "" : "; ";
    note += "resized after it was placed";
  }
  if (object.reduced) {
    note += note.empty() ? "" : "; ";
    note += "resolution reduced";
  }
  return note;
}

report::strip strip_of(const object_report& object) {
  using content = object_report::cell::content;
  std::vector<node_id> cells;
  cells.reserve(object.strip.size());
  for (const object_report::cell& cell : object.strip) {
    cells.push_back(cell.what == content::empty ? report::not_resident : cell.node);
  }
  return report::strip(std::span<const node_id>(cells));
}

std::string shares_text(const object_report& object) {
  std::string text;
  const auto add = [&](const std::string& name, std::uint64_t pages) {
    if (pages != 0) {
      text += text.empty() ? "" : ", ";
      text +=
          name + " " +
          report::format_percent(static_cast<double>(pages) / static_cast<double>(object.pages));
    }
  };
  for (const object_report::share& share : object.shares) {
    add("N" + std::to_string(to_int(share.node)), share.pages);
  }
  add("unknown", object.unknown);
  add("not resident", object.pages - std::min(object.pages, object.resident));
  return text;
}

std::string objects_text(const launch::plan& asked, std::vector<object_report> objects,
                         const report::style& how) {
  std::ranges::sort(objects, [](const object_report& a, const object_report& b) {
    return std::pair(b.bytes, a.sequence) < std::pair(a.bytes, b.sequence); // largest first
  });
  report::table rows({{"object"},
                      {"size", report::align::right},
                      {has_owners(asked) ? "local" : "as asked", report::align::right},
                      {"first page ... last page"},
                      {"pages on", report::align::left, true},
                      {"", report::align::left, true}},
                     2);
  const std::size_t columns = how.width < 100 ? 16 : 32;
  for (std::size_t i = 0; i < std::min(objects.size(), max_rows); ++i) {
    const object_report& object = objects[i];
    const auto share =
        has_owners(asked) ? local_share(asked, object) : share_as_asked(asked, object);
    rows.add({"#" + std::to_string(object.sequence),
              report::format_bytes(object.bytes),
              {share ? report::format_percent(*share) : "-",
               share && *share < 1 ? tone::bad : tone::plain},
              strip_of(object).draw(how, std::min(columns, object.strip.size())),
              shares_text(object),
              {note_of(asked, object), tone::warning}});
  }
  std::string text = rows.to_string(how);
  if (objects.size() > max_rows) {
    text += "  and " + std::to_string(objects.size() - max_rows) + " smaller ones\n";
  }
  if (has_owners(asked)) {
    text +=
        report::paint(how, tone::faint,
                      "  local: on the node of the thread that schedule(static) gives the page");
    text += '\n';
  }
  return text;
}

ordered_json json_of(const launch::plan& asked, const object_report& object) {
  using content = object_report::cell::content;
  ordered_json shares = ordered_json::array();
  for (const object_report::share& share : object.shares) {
    shares.push_back({{"node", to_int(share.node)}, {"pages", share.pages}});
  }
  ordered_json strip = ordered_json::array();
  for (const object_report::cell& cell : object.strip) {
    if (cell.what == content::node) {
      strip.push_back(to_int(cell.node));
    } else {
      strip.push_back(cell.what == content::empty ? "not resident" : "unknown");
    }
  }
  ordered_json result = {{"sequence", object.sequence},
                         {"bytes", object.bytes},
                         {"pages", object.pages},
                         {"resident", object.resident},
                         {"unknown", object.unknown},
                         {"per_node", std::move(shares)},
                         {"local", report::or_unavailable(local_share(asked, object))},
                         {"as_asked", report::or_unavailable(share_as_asked(asked, object))},
                         {"granule_bytes", object.granule_bytes},
                         {"extents", object.extents},
                         {"placed", object.placed},
                         {"strip", std::move(strip)},
                         {"live_at_end", object.live_at_end},
                         {"resized", object.resized},
                         {"resolution", object.reduced ? "reduced" : "page"}};
  if (object.refused_errno != 0 || object.map_limited) {
    result["not_placed"] = object.map_limited ? "map limit" : errno_text(object.refused_errno);
  }
  if (!object.caller_module.empty()) {
    result["caller"] = {{"module", object.caller_module}, {"offset", object.caller_offset}};
  }
  return result;
}

ordered_json json_of(const launch::plan& asked, const process_report& process) {
  ordered_json objects = ordered_json::array();
  for (const object_report& object : process.objects) {
    objects.push_back(json_of(asked, object));
  }
  ordered_json result = {{"pid", process.pid}, {"program", process.program}};
  result["page_bytes"] =
      process.page_bytes == 0 ? ordered_json("unavailable") : ordered_json(process.page_bytes);
  if (process.totals) {
    result["totals"] = {
        {"objects", process.totals->objects},   {"placed", process.totals->placed},
        {"refused", process.totals->refused},   {"map_limited", process.totals->map_limited},
        {"left_out", process.totals->left_out}, {"lost", process.totals->lost}};
  } else {
    result["totals"] = "unavailable";
  }
  result["objects"] = std::move(objects);
  return result;
}

std::string_view name_of(const launch::plan& asked) {
  if (is_blocked(asked)) {
    return "blocked";
  }
  switch (asked.memory ? asked.memory->mode : sys::policy::system_default) {
  case sys::policy::bind:
    return "bind";
  case sys::policy::interleave:
    return "interleave";
  case sys::policy::weighted_interleave:
    return "weighted interleave";
  case sys::policy::preferred:
  case sys::policy::preferred_many:
    return "prefer";
  case sys::policy::local:
    return "local";
  case sys::policy::system_default:
    break;
  }
  return "inherited";
}

ordered_json json_of(const launch::plan& asked) {
  ordered_json memory = {{"placement", name_of(asked)}};
  if (asked.agent && is_blocked(asked)) {
    ordered_json owners = ordered_json::array();
    for (const node_id node : asked.agent->owners) {
      owners.push_back(to_int(node));
    }
    memory["owners"] = std::move(owners);
  } else if (asked.memory && !asked.memory->nodes.empty()) {
    memory["nodes"] = asked.memory->nodes.to_string();
  }
  if (asked.agent) {
    memory["threshold_bytes"] = asked.agent->threshold_bytes;
  }
  ordered_json result = {{"memory", std::move(memory)}};
  if (asked.affinity) {
    result["cpus"] = asked.affinity->to_string();
  }
  if (asked.layout) {
    ordered_json threads = ordered_json::array();
    for (const thread_place& thread : asked.layout->threads()) {
      threads.push_back({{"cpus", thread.place.to_string()}, {"node", to_int(thread.node)}});
    }
    result["bind"] = to_string(asked.layout->policy());
    result["threads"] = std::move(threads);
  }
  return result;
}

} // namespace

std::string run_text(const launch::plan& asked, const launch::outcome& found,
                     const report::style& how) {
  if (!asked.agent) {
    return "nodewise: where its pages were is unavailable: it ran without the agent\n";
  }
  const std::string threshold = report::format_bytes(asked.agent->threshold_bytes) + " or more";
  std::string text;
  for (const process_report& process : found.report.processes) {
    if (process.objects.empty()) {
      continue;
    }
    text += report::paint(how, tone::strong,
                          process.program + "[" + std::to_string(process.pid) + "]") +
            ": " + std::to_string(process.objects.size()) + " objects of " + threshold + "\n" +
            objects_text(asked, process.objects, how);
  }
  return text.empty() ? "nodewise: no object of " + threshold + " was seen\n" : text;
}

ordered_json run_json(const launch::plan& asked, const launch::outcome& found) {
  ordered_json result = report::envelope("run", 1, machine_json(topology::from_sysfs().machine()),
                                         settings_json(sys::real_kernel()));
  result["command"] = asked.command;
  result["asked"] = json_of(asked);
  result["exit_code"] = found.exit_code();
  if (WIFSIGNALED(found.wait_status)) {
    result["signal"] = WTERMSIG(found.wait_status);
  }
  result["as_asked"] = is_as_asked(asked, found);
  std::vector<std::string> warnings = asked.warnings;
  warnings.insert(warnings.end(), found.warnings.begin(), found.warnings.end());
  result["warnings"] = std::move(warnings);
  result["processes"] = ordered_json::array();
  for (const process_report& process : found.report.processes) {
    result["processes"].push_back(json_of(asked, process));
  }
  return result;
}

bool is_as_asked(const launch::plan& asked, const launch::outcome& found) {
  if (!asked.agent || found.report.processes.empty() || found.report.damaged_bytes != 0) {
    return false;
  }
  const auto& processes = found.report.processes;
  for (std::size_t i = 0; i < processes.size(); ++i) {
    const process_report& process = processes[i];
    const bool all_placed =
        !process.totals || (process.totals->refused == 0 && process.totals->map_limited == 0);
    if (!all_placed || process.foreign_malloc ||
        launch::completeness_of(found.report, i) != launch::completeness::whole ||
        !std::ranges::all_of(process.objects, [&](const object_report& object) {
          return is_as_asked(asked, object);
        })) {
      return false;
    }
  }
  return true;
}

} // namespace nodewise::cli
