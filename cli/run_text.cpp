// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <nodewise/error.hpp>

#include "base/printable.hpp"
#include "cli/run_result.hpp"
#include "report/envelope.hpp"
#include "report/strip.hpp"
#include "report/table.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using launch::object_report;
using launch::process_report;
using launch::thread_report;
using report::tone;

constexpr std::size_t max_rows = 20;

report::strip strip_of(const object_report& object) {
  using content = object_report::cell::content;
  std::vector<node_id> cells;
  cells.reserve(object.strip.size());
  for (const object_report::cell& cell : object.strip) {
    cells.push_back(cell.what == content::empty   ? report::not_resident
                    : cell.what == content::mixed ? report::mixed_owners
                                                  : cell.node);
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

/// The name in the profile if a plan entry matches: only a profile knows the stack, which
/// distinguishes the allocations of a template or of one line.
std::string name_of(const run_result& result, const object_report& object) {
  if (const auto entry = result.entry_of(object); entry && result.asked.planned) {
    return result.asked.planned->entries[*entry].label;
  }
  return object.what == object_report::kind::static_array ? symbols::demangle(object.name.c_str())
                                                          : site_of(result, object);
}

/// "#3", and the object's name if it has one.
std::string label_of(const run_result& result, const object_report& object) {
  std::string text = "#" + std::to_string(object.sequence);
  const std::string name = name_of(result, object);
  return name.empty() ? text : text + " " + printable(name);
}

/// Whether the locality of every object is relative to the threads that use its pages.
bool all_local(const run_result& result, const process_report& process) {
  return result.has_owners() &&
         std::ranges::all_of(process.objects, [&](const object_report& object) {
           return object.resized || object.locality() == std::nullopt ||
                  result.local_share(process, object).has_value();
         });
}

std::string objects_text(const run_result& result, const process_report& process,
                         const report::style& how) {
  std::vector<object_report> objects = process.objects;
  std::ranges::sort(objects, [](const object_report& a, const object_report& b) {
    return std::pair(b.bytes, a.sequence) < std::pair(a.bytes, b.sequence); // largest first
  });
  const bool local = all_local(result, process);
  report::table rows({{"object"},
                      {"size", report::align::right},
                      {local ? "local" : "as asked", report::align::right},
                      {"first page ... last page"},
                      {"pages on", report::align::left, true},
                      {"", report::align::left, true}},
                     2);
  const std::size_t columns = how.width < 100 ? 16 : 32;
  for (std::size_t i = 0; i < std::min(objects.size(), max_rows); ++i) {
    const object_report& object = objects[i];
    const auto share = local ? result.local_share(process, object) : result.share_as_asked(object);
    rows.add({label_of(result, object),
              report::format_bytes(object.bytes),
              {share ? report::format_percent(*share) : "-",
               share && *share < 1 ? tone::bad : tone::plain},
              strip_of(object).draw(how, std::min(columns, object.strip.size())),
              shares_text(object),
              {note_of(result, object), tone::warning}});
  }
  std::string text = rows.to_string(how);
  if (objects.size() > max_rows) {
    text += "  and " + std::to_string(objects.size() - max_rows) + " smaller ones\n";
  }
  if (local) {
    text +=
        report::paint(how, tone::faint,
                      "  local: on the node of the thread that schedule(static) gives the page");
    text += '\n';
  }
  return text;
}

/// The node of all of a thread's processors; nothing if they are on several nodes, or if the list
/// is cut off.
std::optional<node_id> node_of(const thread_report& thread, const topology& here) {
  if (thread.cpus.empty() || thread.cpus.ends_with("...")) {
    return std::nullopt;
  }
  std::optional<node_id> node;
  for (const cpu_id cpu : cpu_set::parse(thread.cpus)) {
    const node_id its = here.node_of(cpu);
    if (its == unknown_node || (node && *node != its)) {
      return std::nullopt;
    }
    node = its;
  }
  return node;
}

} // namespace

std::string site_of(const run_result& result, const object_report& object) {
  if (object.what == object_report::kind::static_array || object.caller_module.empty()) {
    return {};
  }
  const std::string name = result.name_site ? result.name_site(object) : std::string{};
  return name.empty() ? symbols::module_and_offset(object.caller_module, object.caller_offset)
                      : name;
}

std::string note_of(const run_result& result, const object_report& object) {
  std::string note;
  const auto add = [&](const std::string& words) { note += (note.empty() ? "" : "; ") + words; };
  if (object.what == object_report::kind::group) {
    add(std::to_string(object.blocks) + " blocks");
  }
  if (object.map_limited) {
    add("not placed: map limit");
  } else if (object.refused_errno != 0) {
    add("not placed: " + errno_text(object.refused_errno));
  } else if (object.many_threads) {
    add("not placed: several threads allocate it");
  } else if (object.no_threads && !object.unasked) {
    add("not placed: no thread was started after it");
  } else if (object.resident == 0) {
    add(object.placed ? "placed, never touched" : "never touched");
  }
  if (object.coarser) {
    add("map limit: granules of " + report::format_bytes(object.granule_bytes));
  }
  if (object.interleaved) {
    add("map limit: interleaved");
  }
  if (object.base_pages) {
    add("no huge pages: blocks too short");
  }
  if (object.resized) {
    add("resized after it was placed");
  }
  if (object.partly_gone) {
    add("a part of it was unmapped");
  }
  if (object.reduced) {
    add("resolution reduced");
  }
  if (object.rule && result.asked.agent && *object.rule < result.asked.agent->rules.size()) {
    const auto entry = result.entry_of(object);
    add(entry ? "entry " + std::to_string(*entry + 1) : "rule " + std::to_string(*object.rule + 1));
  }
  return note;
}

std::string threads_text(const run_result& result, const process_report& process) {
  std::map<int, std::size_t> on_node;
  std::size_t anywhere = 0;
  for (const thread_report& thread : process.threads) {
    if (const auto node = node_of(thread, result.here)) {
      ++on_node[to_int(*node)];
    } else {
      ++anywhere;
    }
  }
  std::string text;
  const auto add = [&](const std::string& words) { text += (text.empty() ? "" : ", ") + words; };
  for (const auto& [node, threads] : on_node) {
    add(std::to_string(threads) + " on node " + std::to_string(node));
  }
  if (anywhere != 0) {
    add(std::to_string(anywhere) + " on any of several nodes");
  }
  if (process.totals && process.totals->own_affinity != 0) {
    add(std::to_string(process.totals->own_affinity) + " bound by the program itself");
  }
  if (process.totals && process.totals->pin_errno != 0) {
    add("some not bound: " + errno_text(process.totals->pin_errno));
  }
  // The agent describes the threads that it bound, and those that exist at the end.
  const std::size_t started = process.totals ? process.totals->own_threads + 1 : 0;
  if (started > process.threads.size()) {
    add(std::to_string(started - process.threads.size()) + " not bound, ended before");
  }
  const std::size_t threads = std::max<std::size_t>(process.threads.size(), started);
  return "  " + std::to_string(threads) + (threads == 1 ? " thread: " : " threads: ") + text + "\n";
}

namespace {

/// The smallest size of objects that are placed: a rule may apply below the threshold.
std::uint64_t least_bytes(const launch::agent_orders& asked) {
  std::uint64_t least = asked.threshold_bytes;
  for (const launch::agent_rule& each : asked.rules) {
    least = each.least_bytes > 0 ? std::min(least, each.least_bytes) : least;
  }
  return least;
}

} // namespace

std::string run_text(const run_result& result, const report::style& how) {
  if (!result.asked.agent) {
    return "nodewise: where its pages were is unavailable: it ran without the agent\n";
  }
  const std::string threshold = report::format_bytes(least_bytes(*result.asked.agent)) + " or more";
  std::string text;
  for (const process_report& process : result.found.report.processes) {
    if (process.objects.empty()) {
      continue;
    }
    text += report::paint(how, tone::strong,
                          printable(process.program) + "[" + std::to_string(process.pid) + "]") +
            ": " + std::to_string(process.objects.size()) +
            (process.objects.size() == 1 ? " object of " : " objects of ") + threshold + "\n" +
            objects_text(result, process, how);
    if (!process.allocator.empty()) {
      text += "  small blocks come from " + printable(process.allocator) + "\n";
    }
    text += process.threads.empty() ? std::string{} : threads_text(result, process);
  }
  const auto incomplete = [&](std::size_t i) {
    return launch::completeness_of(result.found.report, i) != launch::completeness::whole;
  };
  for (std::size_t i = 0; text.empty() && i < result.found.report.processes.size(); ++i) {
    if (incomplete(i)) { // already reported; the objects are unknown
      return {};
    }
  }
  text = text.empty() ? "nodewise: no object of " + threshold + " was seen\n" : text;
  for (const std::string& line : launch::measured_texts(*result.asked.agent)) {
    text += printable(line) + "\n";
  }
  return text + plan_text(result, how);
}

} // namespace nodewise::cli
