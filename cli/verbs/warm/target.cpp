// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/warm/target.hpp"

#include <algorithm>
#include <utility>

#include <fmt/core.h>

#include <nodewise/arithmetic.hpp>
#include <nodewise/error.hpp>
#include <nodewise/team_layout.hpp>

#include "base/text.hpp"
#include "cli/machine/source.hpp"
#include "placement/resolve.hpp"
#include "spec/spec.hpp"

namespace nodewise::cli {

namespace {

using placements::division;
using placements::kernel_policy;

[[noreturn]] void refuse_target(std::string_view text, const char* answered) {
  throw error(error_kind::usage, std::string(text), answered,
              "write blocked, interleave, cyclic:SIZE, weighted:NODE=WEIGHT,... or node:N");
}

/// The file has no policy, so the words of `run` that name one have no meaning here.
placements::placement read_target(std::string_view text, const topology& where) {
  const std::string as_run =
      text.starts_with("node:") ? fmt::format("bind:{}", text.substr(5)) : std::string(text);
  const auto nodes = [&](std::string_view list) {
    return spec::resolve_nodes(list, where, spec::node_purpose::memory);
  };
  const auto read = placements::read(as_run, placements::grammar::command_line, nodes);
  return placements::resolved(
      read, placements::grammar::command_line,
      {.threads = {},
       .memories = [&] { return where.memory_nodes(); },
       .nodes_of_threads = [&] { return where.memory_nodes(); },
       .measured = [&](const node_set& of) { return weigh_by_measurement(where, of).weights; }});
}

} // namespace

page_target::page_target(std::string_view text, const topology& where, std::vector<node_id> readers,
                         std::size_t page_bytes)
    : word_(text), page_bytes_(page_bytes) {
  const placements::placement what = read_target(text, where);
  const placements::traits& traits = placements::traits_of(what.how);
  owners_ = placements::owners_of(what.owners);
  switch (traits.divided) {
  case division::parts:
    if (what.granule_bytes != 0) {
      refuse_target(text, "a file has no rows");
    }
    owners_ = std::move(readers);
    return;
  case division::rounds:
    turn_pages_ = std::max<std::size_t>(1, what.granule_bytes / page_bytes);
    return;
  case division::none:
    turn_pages_ = 1;
    const bool is_one_node = traits.policy == kernel_policy::bind && text.starts_with("node:");
    if (is_one_node && owners_.size() != 1) {
      refuse_target(text, "it names several nodes");
    }
    if (!is_one_node && traits.policy != kernel_policy::interleave) {
      refuse_target(text, "a file has no such placement");
    }
  }
}

node_id page_target::owner_of(std::size_t page, std::size_t pages) const {
  const std::size_t slot = turn_pages_ != 0
                               ? arithmetic::block_cyclic_slot(page, turn_pages_, owners_.size())
                               : arithmetic::blocked_slot(page, pages, owners_.size());
  return owners_[slot];
}

std::function<node_id(std::size_t page)>
page_target::owners(std::uint64_t bytes, const std::vector<page_cache::tensor>& tensors) const {
  const std::size_t pages = arithmetic::pages_for(bytes, page_bytes_);
  std::vector<std::size_t> ends; // of the header, and of each tensor, in pages
  for (const page_cache::tensor& each : tensors) {
    ends.push_back(arithmetic::pages_for(each.first, page_bytes_));
  }
  ends.push_back(pages);
  return [this, ends = std::move(ends)](std::size_t page) {
    const auto end = std::ranges::upper_bound(ends, page);
    if (end == ends.end()) {
      return unknown_node; // beyond the file's end
    }
    const std::size_t first = end == ends.begin() ? 0 : *(end - 1);
    return owner_of(page - first, *end - first);
  };
}

std::string page_target::text() const {
  node_set nodes;
  for (const node_id node : owners_) {
    nodes.insert(node);
  }
  const std::string on =
      fmt::format("{} {}", nodes.size() == 1 ? "node" : "nodes", nodes.to_string());
  return word_.starts_with("node:") || owners_.size() == 1 ? on
         : turn_pages_ != 0                                ? fmt::format("{} over {}", word_, on)
                            : fmt::format("{}, one block for each of {} on {}", word_,
                                          counted(owners_.size(), "reader"), on);
}

topology with_cpus_of_readers(sys::kernel& kernel, const topology& here) {
  cpu_set all;
  for (const memory_node& each : here.machine().nodes) {
    all = all | each.cpus;
  }
  const auto own = kernel.get_affinity(0);
  if (!own || kernel.set_affinity(0, all) != 0) {
    return here;
  }
  const auto clipped = kernel.get_affinity(0); // the kernel took away what the cpuset excludes
  (void)kernel.set_affinity(0, own.value);
  return clipped ? topology(here.machine(), clipped.value, here.allowed_nodes()) : here;
}

std::vector<node_id> reader_nodes(const topology& where, std::optional<std::size_t> count) {
  if (count) {
    return team_layout(where, bind_policy::close, *count).owners();
  }
  std::vector<node_id> nodes;
  for (const domain& each : where.domains()) {
    if (where.memory_nodes().contains(each.node)) {
      nodes.push_back(each.node);
    }
  }
  if (nodes.empty()) { // processors on nodes without memory
    nodes.assign(where.memory_nodes().begin(), where.memory_nodes().end());
  }
  return nodes;
}

} // namespace nodewise::cli
