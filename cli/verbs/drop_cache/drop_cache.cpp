// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/region.hpp>
#include <nodewise/topology.hpp>

#include "cli/frame/result.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/drop_cache/flags.hpp"
#include "cli/verbs/drop_cache/view.hpp"
#include "doctor/allowance.hpp"
#include "report/progress.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli::verbs {

namespace {

node_set asked_nodes(const invocation& given, const topology& where) {
  if (const auto text = given.text(flags::cache_nodes)) {
    return for_option(flags::cache_nodes, [&] {
      return spec::resolve_nodes(*text, where, spec::node_purpose::memory);
    });
  }
  return where.memory_nodes();
}

/// The nodes with memory that were not requested, including those that this process may not use:
/// drop_caches empties them too.
node_set others(const node_set& asked, const topology& where) {
  node_set all;
  for (const memory_node& node : where.machine().nodes) {
    if (node.memory_bytes != 0 && !asked.contains(node.id)) {
      all.insert(node.id);
    }
  }
  return all;
}

drop_way way_of(const invocation& given, const node_set& asked, const topology& where) {
  const std::string_view by = given.text(flags::drop_by).value_or("auto");
  const std::string option = fmt::format("{} {}", option_name(flags::drop_by), by);
  if (by == "files" && given.operands.empty()) {
    throw error(error_kind::usage, option, "no file is named", "write nodewise drop-cache FILE...");
  }
  if (by != "auto" && by != "files" && !given.operands.empty()) {
    throw error(error_kind::usage, option, "files are named as well", "leave out one of the two");
  }
  if (!given.operands.empty()) {
    return drop_way::files;
  }
  const node_set spared = given.has(flags::cache_nodes) ? others(asked, where) : node_set{};
  if (by == "drop" && !spared.empty()) {
    const std::string nodes = option_name(flags::cache_nodes);
    throw error(error_kind::usage, fmt::format("{} with {} {}", option, nodes, asked.to_string()),
                "the kernel drops the page cache of all nodes, also of " + spared.to_string(),
                fmt::format("{} pressure empties only the named nodes; without {}, drop empties "
                            "all nodes",
                            option_name(flags::drop_by), nodes));
  }
  if (by == "auto") {
    return spared.empty() && page_cache::may_drop_everything() ? drop_way::drop
                                                               : drop_way::pressure;
  }
  return by == "drop" ? drop_way::drop : drop_way::pressure;
}

page_cache::pressure press_on(node_id node, sys::kernel& kernel) {
  std::vector<region> held; // until the node's page cache is empty
  const auto take = [&](std::uint64_t bytes) {
    try {
      held.emplace_back(bytes, bound(node), place_options{strictness::must, page_size::base});
      populate(held.back().bytes());
      return 0;
    } catch (const error& e) {
      return e.errno_value() != 0 ? e.errno_value() : ENOMEM;
    }
  };
  std::optional<report::progress> shown;
  return page_cache::press(
      {.look = [&] { return sys::read_node_memory(kernel, node); },
       .free_swap = [&] { return sys::read_meminfo(kernel, "SwapFree"); },
       .room = [&]() -> std::optional<std::uint64_t> {
         return nodewise::doctor::read_memory_limit(kernel).room_bytes;
       },
       .take = take,
       .progress =
           [&](std::uint64_t done, std::uint64_t total) {
             if (!shown) {
               shown.emplace(fmt::format("emptying the page cache of node {}", node), total);
             }
             shown->done(done);
           }});
}

void drop(dropped_cache& result, sys::kernel& kernel) {
  switch (result.way) {
  case drop_way::drop:
    if (const int failed = page_cache::drop_everything(); failed != 0) {
      throw error(
          error_kind::system, "dropping the page cache", "/proc/sys/vm/drop_caches",
          fmt::format("without root, use {} pressure or name files", option_name(flags::drop_by)),
          failed);
    }
    break;
  case drop_way::files:
    for (dropped_file& each : result.files) {
      each.outcome = page_cache::drop_file(each.path);
    }
    break;
  case drop_way::pressure:
    page_cache::be_first_to_be_ended();
    for (dropped_node& each : result.nodes) {
      each.pressed = press_on(each.node, kernel);
    }
  }
}

int exit_code_for(const dropped_cache& result, bool strict) {
  const auto not_dropped = [](const dropped_file& each) {
    return each.outcome.errno_value != 0 || each.outcome.stayed_bytes.value_or(0) != 0;
  };
  const auto unknown = [](const dropped_file& each) { return !each.outcome.stayed_bytes; };
  const auto left = [](const dropped_node& each) {
    return each.pressed && each.pressed->why != page_cache::ending::swept;
  };
  if (std::ranges::any_of(result.files, not_dropped)) {
    return exit_code::bad_input;
  }
  return strict && (std::ranges::any_of(result.files, unknown) ||
                    std::ranges::any_of(result.nodes, left))
             ? exit_code::check_failed
             : exit_code::ok;
}

} // namespace

int drop_cache(const invocation& given) {
  check_output(given);
  sys::kernel& kernel = sys::real_kernel();
  const topology where = topology::from_sysfs();
  const node_set asked = asked_nodes(given, where);
  dropped_cache result{where.machine(), way_of(given, asked, where), {}, {}};
  for (const node_id node : asked) {
    result.nodes.push_back({node, sys::read_node_memory(kernel, node), {}, {}});
  }
  for (const std::string& path : given.operands) {
    result.files.push_back({path, {}});
  }
  drop(result, kernel);
  for (dropped_node& each : result.nodes) {
    each.after = sys::read_node_memory(kernel, each.node);
  }
  show_result(given, drop_cache_forms, result,
              [&](const report::style& how) { return drop_cache_text(result, how); });
  return exit_code_for(result, given.has(flags::strict));
}

} // namespace nodewise::cli::verbs
