// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/sweep_view.hpp"

#include <cerrno>
#include <utility>

#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using report::tone;
using sweep::ending;

std::string_view name_of(sweep_way way) {
  switch (way) {
  case sweep_way::drop:
    return "drop";
  case sweep_way::files:
    return "files";
  case sweep_way::pressure:
    break;
  }
  return "pressure";
}

std::string_view name_of(ending why) {
  switch (why) {
  case ending::swept:
    return "swept";
  case ending::swaps:
    return "swaps";
  case ending::stuck:
    return "stuck";
  case ending::limited:
    return "limited";
  case ending::refused:
    return "refused";
  case ending::unknown:
    break;
  }
  return "unknown";
}

/// Why page cache is left, and what would help.
std::string reason(const sweep::pressure& of) {
  switch (of.why) {
  case ending::swept:
    return "";
  case ending::swaps:
    return "stopped, since the kernel began to swap: end what holds memory there, or drop as root";
  case ending::stuck:
    return "what is left does not go: dirty pages need `sync` first, mapped ones the end of who "
           "maps them";
  case ending::limited:
    return "stopped at this control group's memory limit: sweep from outside of it";
  case ending::refused:
    return "the kernel gave no more memory: " + errno_text(of.errno_value);
  case ending::unknown:
    break;
  }
  return "nothing was done: the kernel does not tell what the node holds";
}

/// The remark on a file whose pages are not known to be dropped.
std::string line_of(const swept_file& file, const report::style& how) {
  const auto say = [&](tone as, const std::string& what) {
    return report::paint(how, as, file.path) + ": " + what + "\n";
  };
  if (const int failed = file.outcome.errno_value; failed != 0) {
    return say(tone::bad, errno_text(failed) + (failed == EISDIR ? ", name the files in it" : ""));
  }
  if (!file.outcome.stayed_bytes) {
    return say(tone::warning,
               "the kernel was asked to drop it; how much stayed is unavailable, as to "
               "who neither owns the file nor may write it");
  }
  if (*file.outcome.stayed_bytes != 0) {
    return say(tone::bad, report::format_bytes(*file.outcome.stayed_bytes) +
                              " stayed in memory: a program has these pages mapped or writes them, "
                              "or the file system is memory (tmpfs)");
  }
  return "";
}

report::cell bytes_cell(const std::optional<std::uint64_t>& bytes) {
  return bytes ? report::cell(report::format_bytes(*bytes))
               : report::cell("unavailable", tone::faint);
}

template <class Field>
std::optional<std::uint64_t> field(const std::optional<sys::node_memory>& of, Field which) {
  return of ? std::optional(of.value().*which) : std::nullopt;
}

std::string table_of(const swept& what, const report::style& how) {
  constexpr auto right = report::align::right;
  report::table rows(
      {{"node", right}, {"free", right}, {"now", right}, {"page cache", right}, {"now", right}});
  for (const swept_node& each : what.nodes) {
    rows.add({std::to_string(to_int(each.node)),
              bytes_cell(field(each.before, &sys::node_memory::free_bytes)),
              bytes_cell(field(each.after, &sys::node_memory::free_bytes)),
              bytes_cell(field(each.before, &sys::node_memory::cache_bytes)),
              bytes_cell(field(each.after, &sys::node_memory::cache_bytes))});
  }
  return rows.to_string(how);
}

ordered_json memory_json(const std::optional<sys::node_memory>& of) {
  if (!of) {
    return "unavailable";
  }
  return {{"total_bytes", of->total_bytes},
          {"free_bytes", of->free_bytes},
          {"cache_bytes", of->cache_bytes},
          {"evictable_bytes", report::or_unavailable(of->evictable_bytes)}};
}

} // namespace

std::string sweep_text(const swept& what, const report::style& how) {
  std::string text = table_of(what, how);
  for (const swept_node& each : what.nodes) {
    const std::string why = each.pressed ? reason(*each.pressed) : "";
    if (!why.empty()) {
      text += report::paint(how, tone::warning, "node " + std::to_string(to_int(each.node))) +
              ": " + why + "\n";
    }
  }
  for (const swept_file& each : what.files) {
    text += line_of(each, how);
  }
  if (what.way == sweep_way::drop) {
    text += report::paint(how, tone::faint, "The kernel drops the page cache of all nodes.") + "\n";
  }
  return text;
}

ordered_json sweep_json(const swept& what, const machine& on, ordered_json settings) {
  ordered_json all = report::envelope("sweep", 1, machine_json(on), std::move(settings));
  all["way"] = name_of(what.way);
  all["nodes"] = ordered_json::array();
  for (const swept_node& each : what.nodes) {
    ordered_json one = {{"node", to_int(each.node)},
                        {"before", memory_json(each.before)},
                        {"after", memory_json(each.after)}};
    if (each.pressed) {
      one["ending"] = name_of(each.pressed->why);
      one["taken_bytes"] = each.pressed->taken_bytes;
      if (each.pressed->errno_value != 0) {
        one["errno"] = each.pressed->errno_value;
      }
    }
    all["nodes"].push_back(std::move(one));
  }
  if (what.way == sweep_way::files) {
    all["files"] = ordered_json::array();
    for (const swept_file& each : what.files) {
      ordered_json one = {{"path", each.path}};
      if (each.outcome.errno_value != 0) {
        one["errno"] = each.outcome.errno_value;
      } else {
        one["stayed_bytes"] = report::or_unavailable(each.outcome.stayed_bytes);
      }
      all["files"].push_back(std::move(one));
    }
  }
  return all;
}

} // namespace nodewise::cli
