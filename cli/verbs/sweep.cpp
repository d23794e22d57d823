// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <unistd.h>

#include <nlohmann/json.hpp>

#include <nodewise/region.hpp>
#include <nodewise/topology.hpp>

#include "cli/exit_codes.hpp"
#include "cli/result.hpp"
#include "cli/sweep_view.hpp"
#include "cli/terminal.hpp"
#include "cli/verbs.hpp"
#include "doctor/examine.hpp"
#include "report/progress.hpp"
#include "spec/spec.hpp"
#include "sweep/page_cache.hpp"

namespace nodewise::cli::verbs {

namespace {

node_set asked_nodes(const invocation& given, const topology& where) {
  if (const auto text = given.text(flags::swept_nodes)) {
    return for_option(flags::swept_nodes, [&] {
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

[[noreturn]] void refuse_to_drop(const node_set& asked, const node_set& others) {
  throw error(error_kind::usage,
              option_name(flags::sweep_by) + " drop with " + option_name(flags::swept_nodes) + " " +
                  asked.to_string(),
              "the kernel drops the page caches of all nodes, those of " + others.to_string() +
                  ", too",
              option_name(flags::sweep_by) + " pressure empties the named nodes alone; without " +
                  option_name(flags::swept_nodes) + " all are dropped");
}

sweep_way way_of(const invocation& given, const node_set& asked, const topology& where) {
  const std::string_view by = given.text(flags::sweep_by).value_or("auto");
  if (by == "files" && given.operands.empty()) {
    throw error(error_kind::usage, option_name(flags::sweep_by) + " files", "no file is named",
                "write nodewise sweep FILE...");
  }
  if (by != "auto" && by != "files" && !given.operands.empty()) {
    throw error(error_kind::usage, option_name(flags::sweep_by) + " " + std::string(by),
                "files are named, too", "leave one of both out");
  }
  if (!given.operands.empty()) {
    return sweep_way::files;
  }
  const node_set spared = given.has(flags::swept_nodes) ? others(asked, where) : node_set{};
  if (by == "drop" && !spared.empty()) {
    refuse_to_drop(asked, spared);
  }
  if (by == "auto") {
    return spared.empty() && sweep::may_drop_everything() ? sweep_way::drop : sweep_way::pressure;
  }
  return by == "drop" ? sweep_way::drop : sweep_way::pressure;
}

/// Memory that is held on a node until the sweep ends.
class ballast {
 public:
  explicit ballast(node_id node) : node_(node) {}

  int take(std::uint64_t bytes) {
    try {
      held_.emplace_back(bytes, bound(node_), place_options{strictness::must, page_size::base});
      populate(held_.back().bytes());
      return 0;
    } catch (const error& e) {
      return e.errno_value() != 0 ? e.errno_value() : ENOMEM;
    }
  }

 private:
  node_id node_;
  std::vector<region> held_;
};

sweep::pressure press_on(node_id node, sys::kernel& kernel) {
  ballast held(node);
  std::optional<report::progress> shown;
  return sweep::press({.look = [&] { return sys::read_node_memory(kernel, node); },
                       .free_swap = [&] { return sys::read_free_swap(kernel); },
                       .room = [&]() -> std::optional<std::uint64_t> {
                         return nodewise::doctor::read_memory_limit(kernel).room_bytes;
                       },
                       .take = [&](std::uint64_t bytes) { return held.take(bytes); },
                       .progress =
                           [&](std::uint64_t done, std::uint64_t total) {
                             if (!shown) {
                               shown.emplace("pressing on node " + std::to_string(to_int(node)),
                                             total);
                             }
                             shown->done(done);
                           }});
}

std::vector<swept_file> drop_files(const std::vector<std::string>& paths) {
  std::vector<swept_file> all;
  all.reserve(paths.size());
  for (const std::string& path : paths) {
    all.push_back({path, sweep::drop_file(path)});
  }
  return all;
}

void drop_all() {
  if (const int failed = sweep::drop_everything(); failed != 0) {
    throw error(error_kind::system, "to drop the page cache", "/proc/sys/vm/drop_caches",
                "as an ordinary user take " + option_name(flags::sweep_by) +
                    " pressure, or name files",
                failed);
  }
}

void sweep_nodes(swept& result, sys::kernel& kernel) {
  switch (result.way) {
  case sweep_way::drop:
    drop_all();
    break;
  case sweep_way::files:
    break; // files are named by path, not by node
  case sweep_way::pressure:
    sweep::be_first_to_be_ended();
    for (swept_node& each : result.nodes) {
      each.pressed = press_on(each.node, kernel);
    }
  }
}

int exit_code_for(const swept& result, bool strict) {
  const auto not_dropped = [](const swept_file& each) {
    return each.outcome.errno_value != 0 || each.outcome.stayed_bytes.value_or(0) != 0;
  };
  const auto untold = [](const swept_file& each) { return !each.outcome.stayed_bytes; };
  if (std::ranges::any_of(result.files, not_dropped)) {
    return exit_code::bad_input;
  }
  if (strict && std::ranges::any_of(result.files, untold)) {
    return exit_code::check_failed;
  }
  for (const swept_node& each : result.nodes) {
    if (strict && each.pressed && each.pressed->why != sweep::ending::swept) {
      return exit_code::check_failed;
    }
  }
  return exit_code::ok;
}

} // namespace

int sweep(const invocation& given) {
  check_output(given);
  sys::kernel& kernel = sys::real_kernel();
  const topology where = topology::from_sysfs();
  const node_set asked = asked_nodes(given, where);
  swept result{way_of(given, asked, where), {}, {}};
  for (const node_id node : asked) {
    result.nodes.push_back({node, sys::read_node_memory(kernel, node), {}, {}});
  }
  result.files = drop_files(given.operands);
  sweep_nodes(result, kernel);
  for (swept_node& each : result.nodes) {
    each.after = sys::read_node_memory(kernel, each.node);
  }
  if (given.has(flags::json) || given.has(flags::output)) {
    write_result(sweep_json(result, where.machine(), settings_json(kernel)), given);
  }
  if (!given.has(flags::json) && !given.has(flags::quiet)) {
    write_out(sweep_text(result, style_of(STDOUT_FILENO, given)));
  }
  return exit_code_for(result, given.has(flags::strict));
}

} // namespace nodewise::cli::verbs
