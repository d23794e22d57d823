// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The C interface: handles around values of the library, errors as text of the calling thread.
#include <algorithm>
#include <cstring>

#include <fmt/core.h>

#include <nodewise/affinity.hpp>
#include <nodewise/region.hpp>
#include <nodewise/strip.hpp>

#include "base/text.hpp"
#include "c/handles.hpp"

using namespace nodewise;
using namespace nodewise::c;

struct nodewise_region {
  nodewise::region value;
};

namespace nodewise::c {

std::string& last_error() noexcept {
  thread_local std::string text;
  return text;
}

void require(const void* handle, const char* what) {
  if (handle == nullptr) {
    throw error(error_kind::usage, "a call of the C interface",
                fmt::format("null pointer for the {}", what),
                "check what the call that made it returned");
  }
}

void write_text(const std::string& all, char* text, std::size_t room) {
  require(room == 0 ? nullptr : text, "text");
  const std::size_t length = std::min(all.size(), room - 1);
  std::memcpy(text, all.data(), length);
  text[length] = '\0';
}

} // namespace nodewise::c

namespace {

std::vector<node_id> nodes_of(const int* nodes, std::size_t count) {
  require(count == 0 ? &count : static_cast<const void*>(nodes), "list of nodes");
  std::vector<node_id> owners;
  std::ranges::transform(std::span(nodes, count), std::back_inserter(owners),
                         [](int node) { return node_id{node}; });
  return owners;
}

} // namespace

const char* nodewise_error(void) {
  return last_error().c_str();
}

int nodewise_layout_make(nodewise_layout** made, nodewise_bind how, std::size_t threads) {
  return guarded([&] {
    require(made, "layout");
    const auto policy = how == NODEWISE_SPREAD ? bind_policy::spread : bind_policy::close;
    *made = new nodewise_layout{team_layout(topology::from_sysfs(), policy, threads)};
  });
}

void nodewise_layout_free(nodewise_layout* layout) {
  delete layout;
}

std::size_t nodewise_layout_threads(const nodewise_layout* layout) {
  return layout == nullptr ? 0 : layout->value.size();
}

int nodewise_layout_node(const nodewise_layout* layout, std::size_t thread) {
  return thread < nodewise_layout_threads(layout) ? to_int(layout->value.threads()[thread].node)
                                                  : to_int(unknown_node);
}

int nodewise_bind_thread(const nodewise_layout* layout, std::size_t thread) {
  return guarded([&] {
    require(layout, "layout");
    if (thread >= layout->value.size()) {
      throw error(error_kind::usage, fmt::format("cannot bind thread {}", thread),
                  fmt::format("the layout has {}", counted(layout->value.size(), "thread")),
                  "make the layout for as many threads as the program has");
    }
    set_thread_affinity(layout->value.threads()[thread].place);
  });
}

int nodewise_bound(nodewise_distribution** made, int node) {
  return guarded([&] { make_distribution(made, bound(node_id{node})); });
}

int nodewise_blocked(nodewise_distribution** made, const int* nodes, std::size_t count) {
  return guarded([&] { make_distribution(made, blocked(nodes_of(nodes, count))); });
}

int nodewise_blocked_by_threads(nodewise_distribution** made, const nodewise_layout* layout) {
  return guarded([&] {
    require(layout, "layout");
    make_distribution(made, blocked(layout->value.owners()));
  });
}

int nodewise_block_cyclic(nodewise_distribution** made, const int* nodes, std::size_t count,
                          std::size_t block_pages) {
  return guarded(
      [&] { make_distribution(made, block_cyclic(nodes_of(nodes, count), block_pages)); });
}

int nodewise_weighted(nodewise_distribution** made, const int* nodes, const std::uint32_t* weights,
                      std::size_t count) {
  return guarded([&] {
    require(weights, "list of weights");
    make_distribution(made, weighted_blocks(nodes_of(nodes, count),
                                            std::vector<std::uint32_t>(weights, weights + count)));
  });
}

void nodewise_distribution_free(nodewise_distribution* distribution) {
  delete distribution;
}

int nodewise_region_make(nodewise_region** made, std::size_t bytes, const nodewise_distribution* by,
                         nodewise_strictness how) {
  return guarded([&] {
    require(made, "region");
    require(by, "distribution");
    const auto strict = how == NODEWISE_MUST ? strictness::must : strictness::prefer;
    *made = new nodewise_region{region(bytes, by->extents, {.how = strict})};
  });
}

void nodewise_region_free(nodewise_region* region) {
  delete region;
}

void* nodewise_region_data(const nodewise_region* region) {
  return region == nullptr ? nullptr : region->value.data();
}

std::size_t nodewise_region_bytes(const nodewise_region* region) {
  return region == nullptr ? 0 : region->value.size_bytes();
}

int nodewise_region_migrate(nodewise_region* region, const nodewise_distribution* by) {
  return guarded([&] {
    require(region, "region");
    require(by, "distribution");
    const auto moved = region->value.migrate_to(by->extents(region->value.placed().pages));
    if (!moved.refused.empty()) {
      throw error(
          error_kind::system, "cannot move a region of memory",
          fmt::format("{} of pages stayed where they were", counted(moved.refused.size(), "run")),
          "check that the nodes are allowed and have free memory: `nodewise topo`",
          moved.refused.front().errno_value);
    }
  });
}

int nodewise_where(const nodewise_region* region, nodewise_residency* found) {
  return guarded([&] {
    require(region, "region");
    require(found, "result");
    const residency where = region->value.residency();
    *found = {where.pages, where.resident, where.on_owner, where.unknown};
  });
}

int nodewise_strip(const nodewise_region* region, std::size_t columns, char* text,
                   std::size_t room) {
  return guarded([&] {
    require(region, "region");
    write_text(strip(region->value, columns), text, room);
  });
}
