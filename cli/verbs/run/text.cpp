// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "cli/verbs/run/result.hpp"
#include "report/bar.hpp"
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
  for (const object_report::cell& cell : object.strip) {
    cells.push_back(cell.what == content::empty   ? report::not_resident
                    : cell.what == content::mixed ? report::mixed_owners
                                                  : cell.node);
  }
  return report::strip(std::span<const node_id>(cells));
}

std::string shares_text(const object_report& object) {
  std::vector<std::string> parts;
  const auto add = [&](const std::string& name, std::uint64_t pages) {
    if (pages != 0) {
      const double share = static_cast<double>(pages) / static_cast<double>(object.pages);
      parts.push_back(fmt::format("{} {}", name, report::format_percent(share)));
    }
  };
  for (const object_report::share& share : object.shares) {
    add(fmt::format("N{}", share.node), share.pages);
  }
  add("unknown", object.unknown);
  add("not resident", object.pages - std::min(object.pages, object.resident));
  return joined(parts, ", ");
}

/// The name in the profile if a plan entry matches: only a profile knows the stack, which
/// distinguishes the allocations of a template or of one line.
std::string name_of(const run_result& result, const object_report& object) {
  if (const auto entry = result.entry_of(object); entry && result.asked.planned) {
    return result.asked.planned->entries[*entry].label;
  }
  if (object.what == object_report::kind::file && !object.name.empty()) {
    return object.name;
  }
  return object.what == object_report::kind::static_array ? symbols::demangle(object.name.c_str())
                                                          : site_of(result, object);
}

/// "#3", and the object's name if it has one.
std::string label_of(const run_result& result, const object_report& object) {
  const std::string name = name_of(result, object);
  return fmt::format("#{}{}{}", object.sequence, name.empty() ? "" : " ",
                     printable(symbols::abbreviated(name)));
}

/// Whether the locality of every object is relative to the threads that use its pages.
bool all_local(const run_result& result, const process_report& process) {
  return result.has_owners() &&
         std::ranges::all_of(process.objects, [&](const object_report& object) {
           return object.resized || object.locality() == std::nullopt ||
                  result.local_share(process, object).has_value();
         });
}

/// The texts whose condition holds.
std::vector<std::string> holding(const std::vector<std::pair<bool, std::string>>& all) {
  std::vector<std::string> texts;
  for (const auto& [holds, text] : all) {
    if (holds) {
      texts.push_back(text);
    }
  }
  return texts;
}

/// A short reason why an object is misplaced or placed in another way; may be empty.
std::string note_of(const run_result& result, const object_report& object) {
  const std::string why = why_not_placed(object);
  const auto entry = result.entry_of(object);
  const bool ruled =
      object.rule && result.asked.agent && *object.rule < result.asked.agent->rules.size();
  return joined(
      holding({
          {object.what == object_report::kind::group, fmt::format("{} blocks", object.blocks)},
          {!why.empty(), "not placed: " + why},
          {why.empty() && object.resident == 0,
           object.placed ? "placed, never touched" : "never touched"},
          {object.coarser, "map limit: granules of " + report::format_bytes(object.granule_bytes)},
          {object.interleaved, "map limit: interleaved"},
          {object.base_pages, "no huge pages: blocks too short"},
          {object.resized, "resized after placement"},
          {object.partly_gone, "partly unmapped"},
          {object.reduced, "resolution reduced"},
          {ruled && entry, fmt::format("entry {}", entry.value_or(0) + 1)},
          {ruled && !entry, fmt::format("rule {}", object.rule.value_or(0) + 1)},
      }),
      "; ");
}

std::string objects_text(const run_result& result, const process_report& process,
                         const report::style& how) {
  std::vector<object_report> objects = process.objects;
  std::ranges::sort(objects, [](const object_report& a, const object_report& b) {
    return std::pair(b.bytes, a.sequence) < std::pair(a.bytes, b.sequence); // largest first
  });
  const bool local = all_local(result, process);
  report::table rows({"object", report::right("size"), report::right(local ? "local" : "as asked"),
                      "first page ... last page", report::breaking("pages on"),
                      report::breaking("")},
                     2);
  const std::size_t columns = how.width < 100 ? 16 : 32;
  for (std::size_t i = 0; i < std::min(objects.size(), max_rows); ++i) {
    const object_report& object = objects[i];
    const auto share = local ? result.local_share(process, object) : result.share_as_asked(object);
    rows.add({label_of(result, object),
              report::format_bytes(object.bytes),
              {report::format_percent(share, "-"), share && *share < 1 ? tone::bad : tone::plain},
              strip_of(object).draw(how, std::min(columns, object.strip.size())),
              shares_text(object),
              {note_of(result, object), tone::warning}});
  }
  std::string text = rows.to_string(how);
  if (objects.size() > max_rows) {
    text += fmt::format("  and {} smaller ones\n", objects.size() - max_rows);
  }
  if (local) {
    constexpr std::string_view meaning =
        "  local: on the node of the thread to which schedule(static) gives the page";
    text += report::paint(how, tone::faint, meaning) + "\n";
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

std::string threads_text(const run_result& result, const process_report& process) {
  std::map<node_id, std::size_t> on_node;
  std::size_t anywhere = 0;
  for (const thread_report& thread : process.threads) {
    if (const auto node = node_of(thread, result.here)) {
      ++on_node[*node];
    } else {
      ++anywhere;
    }
  }
  std::vector<std::string> parts;
  for (const auto& [node, threads] : on_node) {
    parts.push_back(fmt::format("{} on node {}", threads, node));
  }
  const launch::process_totals totals = process.totals.value_or(launch::process_totals{});
  // The agent describes the threads that it bound, and those that exist at the end.
  const std::size_t described = process.threads.size();
  const std::size_t started = process.totals ? totals.own_threads + 1 : 0;
  std::ranges::move(
      holding(
          {{anywhere != 0, fmt::format("{} on any of several nodes", anywhere)},
           {totals.own_affinity != 0, fmt::format("{} pinned by the program", totals.own_affinity)},
           {totals.pin_errno != 0,
            "some not bound: " + errno_text(static_cast<int>(totals.pin_errno))},
           {started > described, fmt::format("{} not bound, ended early", started - described)}}),
      std::back_inserter(parts));
  return fmt::format("  {}: {}\n", counted(std::max(described, started), "thread"),
                     joined(parts, ", "));
}

/// The smallest size of objects that are placed: a rule may apply below the threshold.
std::uint64_t least_bytes(const launch::agent_orders& asked) {
  std::uint64_t least = asked.threshold_bytes;
  for (const launch::agent_rule& each : asked.rules) {
    least = each.least_bytes > 0 ? std::min(least, each.least_bytes) : least;
  }
  return least;
}

} // namespace

std::string why_not_placed(const object_report& object) {
  if (object.map_limited) {
    return "map limit";
  }
  if (object.refused_errno != 0) {
    return errno_text(object.refused_errno);
  }
  if (object.many_threads) {
    return "several threads allocate it";
  }
  return object.no_threads && !object.unasked ? "no thread was started after it" : "";
}

std::string site_of(const run_result& result, const object_report& object) {
  if (object.what == object_report::kind::static_array || object.caller_module.empty()) {
    return {};
  }
  const std::string name = result.name_site ? result.name_site(object) : std::string{};
  return name.empty() ? symbols::module_and_offset(object.caller_module, object.caller_offset)
                      : name;
}

std::string run_text(const run_result& result, const report::style& how) {
  if (!result.asked.agent) {
    return "nodewise: page locations are unavailable: the program ran without the agent\n";
  }
  const std::string threshold = report::format_bytes(least_bytes(*result.asked.agent)) + " or more";
  std::string text;
  for (const process_report& process : result.found.report.processes) {
    if (process.objects.empty()) {
      continue;
    }
    const std::string name = fmt::format("{}[{}]", printable(process.program), process.pid);
    text += fmt::format("{}: {} of {}\n{}", report::paint(how, tone::strong, name),
                        counted(process.objects.size(), "object"), threshold,
                        objects_text(result, process, how));
    if (!process.allocator.empty()) {
      text += fmt::format("  small blocks come from {}\n", printable(process.allocator));
    }
    text += process.threads.empty() ? std::string{} : threads_text(result, process);
  }
  for (std::size_t i = 0; text.empty() && i < result.found.report.processes.size(); ++i) {
    if (launch::completeness_of(result.found.report, i) != launch::completeness::whole) {
      return {}; // already reported; the objects are unknown
    }
  }
  text = text.empty() ? fmt::format("nodewise: no object of {} was seen\n", threshold) : text;
  for (const std::string& line : launch::measured_texts(*result.asked.agent)) {
    text += printable(line) + "\n";
  }
  return text + plan_text(result, how);
}

} // namespace nodewise::cli
