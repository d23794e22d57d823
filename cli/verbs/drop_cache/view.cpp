// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/drop_cache/view.hpp"

#include <array>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "cli/cached/picture.hpp"
#include "cli/frame/result.hpp"
#include "cli/verbs/drop_cache/flags.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using page_cache::ending;
using report::tone;

struct ending_words {
  std::string_view name;
  std::string_view reason; ///< why page cache is left, and what would help
};

const ending_words& words_of(ending why) {
  static constexpr std::array<ending_words, 6> all = {{
      {"swept", ""},
      {"swaps", "stopped because the kernel began to swap: end programs that hold memory there, or "
                "run this as root"},
      {"stuck", "the rest cannot be evicted: dirty pages need `sync` first, mapped pages stay "
                "until their programs end"},
      {"limited", "stopped at this control group's memory limit: run this outside of it"},
      {"refused", "the kernel refused more memory: "},
      {"unknown", "nothing was done: the kernel does not report what the node holds"},
  }};
  return all.at(static_cast<std::size_t>(why));
}

/// Why page cache is left on the node.
std::string remark_on(const dropped_node& of, const report::style& how) {
  if (!of.pressed || of.pressed->why == ending::swept) {
    return "";
  }
  return fmt::format("{}: {}{}\n",
                     report::paint(how, tone::warning, fmt::format("node {}", of.node)),
                     words_of(of.pressed->why).reason,
                     of.pressed->why == ending::refused ? errno_text(of.pressed->errno_value) : "");
}

/// The remark on a file whose pages are not known to be dropped.
std::string remark_on(const dropped_file& file, const report::style& how) {
  const auto remark = [&](tone as, std::string_view what) {
    return fmt::format("{}: {}\n", report::paint(how, as, file.path), what);
  };
  const auto& [failed, stayed] = file.outcome;
  if (failed != 0) {
    return remark(tone::bad, refused_text(failed));
  }
  if (!stayed) {
    return remark(tone::warning,
                  "the kernel was asked to drop it; it reports what stayed in memory only to users "
                  "that own the file or may write it");
  }
  return *stayed == 0
             ? ""
             : remark(tone::bad,
                      fmt::format("{} stayed in memory: a program has mapped or is writing "
                                  "these pages, or the file system is in memory (tmpfs)",
                                  report::format_bytes(*stayed)));
}

report::cell bytes_cell(const std::optional<sys::node_memory>& of,
                        std::uint64_t sys::node_memory::* which) {
  return of ? report::cell(report::format_bytes(of.value().*which))
            : report::cell("unavailable", tone::faint);
}

std::string table_of(const dropped_cache& what, const report::style& how) {
  using report::right;
  report::table rows(
      {right("node"), right("free"), right("now"), right("page cache"), right("now")});
  for (const dropped_node& each : what.nodes) {
    rows.add({fmt::format("{}", each.node), bytes_cell(each.before, &sys::node_memory::free_bytes),
              bytes_cell(each.after, &sys::node_memory::free_bytes),
              bytes_cell(each.before, &sys::node_memory::cache_bytes),
              bytes_cell(each.after, &sys::node_memory::cache_bytes)});
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

ordered_json dropped_node_json(const dropped_node& of) {
  ordered_json one = {{"node", to_int(of.node)},
                      {"before", memory_json(of.before)},
                      {"after", memory_json(of.after)}};
  if (of.pressed) {
    one["ending"] = words_of(of.pressed->why).name;
    one["taken_bytes"] = of.pressed->taken_bytes;
    if (of.pressed->errno_value != 0) {
      one["errno"] = of.pressed->errno_value;
    }
  }
  return one;
}

} // namespace

std::string drop_cache_text(const dropped_cache& what, const report::style& how) {
  std::string text = table_of(what, how);
  for (const dropped_node& each : what.nodes) {
    text += remark_on(each, how);
  }
  for (const dropped_file& each : what.files) {
    text += remark_on(each, how);
  }
  if (what.way == drop_way::drop) {
    text += report::paint(how, tone::faint, "The kernel drops the page cache of all nodes.") + "\n";
  }
  return text;
}

std::string drop_cache_json(const dropped_cache& what) {
  static constexpr std::array ways = {"drop", "files", "pressure"};
  ordered_json all =
      report::envelope("drop-cache", 1, machine_json(what.on), settings_json(sys::real_kernel()));
  all["way"] = ways.at(static_cast<std::size_t>(what.way));
  all["nodes"] = report::json_list(what.nodes, dropped_node_json);
  if (what.way == drop_way::files) {
    all["files"] = report::json_list(what.files, [](const dropped_file& each) {
      const auto& [failed, stayed] = each.outcome;
      ordered_json one = {{"path", each.path}};
      one[failed != 0 ? "errno" : "stayed_bytes"] =
          failed != 0 ? ordered_json(failed) : report::or_unavailable(stayed);
      return one;
    });
  }
  return report::json_text(all);
}

} // namespace nodewise::cli
