// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/analysis_input.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/core.h>

#include <nodewise/arithmetic.hpp>

#include "profile/names.hpp"

namespace nodewise::advise {

namespace {

using profile::object_kind;

// Share below which a stay on another node is ignored: samples are taken while a thread starts.
constexpr double was_there = 0.05;
// Of the pages whose first touch was seen.
constexpr double nearly_all = 0.9;

bool is_placeable(object_kind what) {
  return what != object_kind::stack && what != object_kind::file && what != object_kind::other;
}

/// Limited to 0..1, whatever the file contains.
double share_of(double written) {
  return std::isfinite(written) ? std::clamp(written, 0.0, 1.0) : 0;
}

/// The thread that touched nearly all of the object's pages first, if there is one.
std::optional<profile::thread_index> only_toucher(const profile::object& of) {
  std::map<profile::thread_index, std::uint64_t> pages;
  std::uint64_t all = 0;
  for (const profile::touched_run& run : of.touched) {
    all += run.count;
    if (run.by) {
      pages[*run.by] += run.count;
    }
  }
  const auto most =
      std::ranges::max_element(pages, {}, [](const auto& each) { return each.second; });
  if (most == pages.end() ||
      static_cast<double>(most->second) < nearly_all * static_cast<double>(all)) {
    return std::nullopt;
  }
  return most->first;
}

/// Whether the cores are known to draw more together than their memory's figure: then the published
/// bandwidth is not the cores' limit.
bool cores_draw_more(const model::machine_costs& on) {
  constexpr double clearly = 1.1;
  std::vector<double> cores(on.size(), 0);
  for (const model::core_unit& core : on.cores) {
    cores[core.node] += on.core[core.node].value;
  }
  bool any = false;
  for (std::size_t n = 0; n < on.size(); ++n) {
    if (cores[n] > 0 && on.memory[n].value > 0) {
      any = true;
      if (cores[n] == model::unlimited || cores[n] < clearly * on.memory[n].value) {
        return false;
      }
    }
  }
  return any;
}

/// Objects with the same key come from one place in the code.
using site_key = std::tuple<std::size_t, object_kind, std::string,
                            std::vector<std::pair<std::string, std::uint64_t>>>;

site_key key_of(const item& of) {
  const profile::object& what = *of.what;
  site_key key(of.program, what.kind, what.name, {});
  for (const profile::frame& frame : what.made_at) {
    if (!frame.inlined) {
      std::get<3>(key).emplace_back(frame.module, frame.offset);
    }
  }
  return key;
}

} // namespace

std::size_t position_or_nowhere(const model::machine_costs& on, node_id node) {
  return on.position_of(node).value_or(nowhere);
}

analysis_input::analysis_input(const profile::profile& of, const topology& on, positions programs)
    : profile_(of), machine_(on), programs_(std::move(programs)),
      costs_(model::costs_of(on.machine())),
      other_costs_(cores_draw_more(costs_)
                       ? costs_
                       : model::costs_of(on.machine(), model::hypothesis::processors)) {
  node_set memories;
  for (std::size_t n = 0; n < costs_.size(); ++n) {
    if (costs_.memory[n].value > 0) {
      memories.insert(costs_.nodes[n]);
    }
  }
  memory_of_ = model::nearest_memory(costs_, memories);
  absolute_ = costs_.absolute;
  for (const std::size_t program : programs_) {
    const profile::program& each = profile_.programs[program];
    assumed_ = assumed_ || each.use_from == profile::use_source::none;
    sampled_ = sampled_ || each.use_from == profile::use_source::hinting_faults;
    absolute_ = absolute_ && each.use_unit_bytes > 0;
  }
  absolute_ = absolute_ && !assumed_;
  main_works_.assign(profile_.programs.size(), 1);
  teams_.resize(profile_.programs.size());
  for (const std::size_t program : programs_) {
    const std::size_t first_worker = workers_.size();
    add_workers(program);
    add_items(program, first_worker);
  }
  add_sites();
  add_bytes();
  mark_alone();
}

void analysis_input::add_workers(std::size_t program) {
  const std::size_t first = workers_.size();
  const std::vector<profile::thread>& threads = profile_.programs[program].threads;
  const positions mains = positions_where(threads, &profile::thread::main);
  const std::size_t main = mains.empty() ? 0 : mains.back();
  for (std::size_t t = 0; t < threads.size(); ++t) {
    worker each;
    each.program = program;
    each.thread = t;
    each.ordinal = t == main ? 0 : t < main ? t + 1 : t;
    for (const profile::thread::stay& stay : threads[t].stays) {
      const std::size_t node = position_or_nowhere(costs_, stay.node);
      if (stay.samples > 0 && has_cores(node)) {
        each.parts.push_back({node, static_cast<double>(stay.samples)});
      }
    }
    double all = sum_over(each.parts, &worker::part::share);
    std::erase_if(each.parts, [&](const auto& part) { return part.share < was_there * all; });
    all = sum_over(each.parts, &worker::part::share);
    for (worker::part& part : each.parts) {
      part.share /= all;
    }
    const auto most = std::ranges::max_element(each.parts, {}, &worker::part::share);
    each.home = most == each.parts.end() ? nowhere : most->node;
    workers_.push_back(std::move(each));
  }
  mark_active(program, first);
  number_workers(program, first);
  mark_roaming(program, first);
}

void analysis_input::add_items(std::size_t program, std::size_t first_worker) {
  const profile::program& from = profile_.programs[program];
  for (const profile::object& each : from.objects) {
    item made;
    made.program = program;
    made.what = &each;
    made.first_worker = first_worker;
    made.unit_bytes = from.use_unit_bytes > 0 ? from.use_unit_bytes : 1;
    made.write_share = share_of(each.write_share);
    made.initialised = each.initialised;
    made.initialised_write_share = share_of(each.initialised_write_share);
    made.now = map_now(each);
    std::vector<double> known(costs_.size() + 1, 0);
    made.now.add_pages(0, static_cast<double>(each.pages), 1, known);
    made.all_known = known.back() == 0;
    made.uses = from.use_from == profile::use_source::none
                    ? assume_uses(made)
                    : std::span<const profile::use_run>(each.uses);
    for (const profile::use_run& run : made.uses) {
      for_each_use(*this, made, run,
                   [&](std::size_t, double amount) { made.units += run.count > 0 ? amount : 0; });
    }
    items_.push_back(std::move(made));
  }
}

model::page_map analysis_input::map_now(const profile::object& of) const {
  std::vector<model::page_block> blocks;
  const auto until = [&](std::uint64_t last, std::size_t node) {
    const std::uint64_t from = blocks.empty() ? 0 : blocks.back().last;
    if (last <= from) {
      return;
    }
    if (!blocks.empty() && blocks.back().node == node) {
      blocks.back().last = last;
    } else {
      blocks.push_back({last, node});
    }
  };
  for (const profile::resident_run& run : of.where) {
    const std::size_t node = position_or_nowhere(costs_, run.node);
    const bool known = node != nowhere && costs_.memory[node].value > 0;
    until(run.first, costs_.size());
    until(run.first + run.count, known ? node : costs_.size());
  }
  if (of.where.empty()) { // freed before it was queried: use its first touches
    for (const profile::touched_run& run : of.touched) {
      const std::size_t node = position_or_nowhere(costs_, run.from);
      until(run.first, costs_.size());
      until(run.first + run.count, node == nowhere ? costs_.size() : memory_of_[node]);
    }
  }
  until(std::max(of.pages, blocks.empty() ? 1 : blocks.back().last) + 1, costs_.size());
  return model::page_map::of_blocks(std::move(blocks));
}

std::span<const profile::use_run> analysis_input::assume_uses(const item& of) {
  const profile::object& what = *of.what;
  std::vector<profile::use_run> uses;
  const std::optional<profile::thread_index> toucher = only_toucher(what);
  const bool by_main = toucher && of.first_worker + *toucher < workers_.size() &&
                       workers_[of.first_worker + *toucher].ordinal == 0;
  const auto page = static_cast<double>(profile_.page_bytes);
  if (by_main && is_placeable(what.kind) && what.pages > 0) {
    std::vector<profile::thread_index> threads;
    for (std::size_t w = of.first_worker; w < workers_.size(); ++w) {
      if (workers_[w].home != nowhere && workers_[w].number != nowhere) {
        threads.push_back(workers_[w].thread);
      }
    }
    for (std::size_t k = 0; k < threads.size(); ++k) {
      const auto part = arithmetic::blocked(k, what.pages, threads.size());
      if (part.size() > 0) {
        uses.push_back(
            {part.first, part.size(), {{threads[k], page * static_cast<double>(part.size())}}});
      }
    }
  } else {
    for (const profile::touched_run& run : what.touched) {
      if (run.by && run.count > 0) {
        uses.push_back({run.first, run.count, {{*run.by, page * static_cast<double>(run.count)}}});
      }
    }
  }
  assumed_uses_.push_back(std::move(uses));
  return assumed_uses_.back();
}

void analysis_input::add_sites() {
  std::map<site_key, std::size_t> found;
  std::map<std::size_t, std::vector<std::string>> names; // by program
  for (const std::size_t program : programs_) {
    names[program] = profile::names_of(profile_.programs[program]);
  }
  for (std::size_t i = 0; i < items_.size(); ++i) {
    const item& each = items_[i];
    const bool placeable = is_placeable(each.what->kind) && each.what->pages > 0;
    const auto [at, fresh] = found.try_emplace(key_of(each), sites_.size());
    if (fresh) {
      const auto position =
          static_cast<std::size_t>(each.what - profile_.programs[each.program].objects.data());
      const std::optional<int> rank = profile_.programs[each.program].rank;
      const std::string whose =
          rank && programs_.size() > 1 ? fmt::format(" (rank {})", *rank) : "";
      sites_.push_back({each.program,
                        names[each.program][position] + whose,
                        {},
                        0,
                        placeable,
                        each.what->kind == object_kind::region});
    }
    site& of = sites_[at->second];
    of.items.push_back(i);
    of.bytes += each.bytes();
    of.placeable = of.placeable || placeable;
    bytes_ += each.bytes();
  }
  std::ranges::sort(sites_, {},
                    [](const site& each) { return std::pair(-each.bytes, each.items.front()); });
  for (std::size_t s = 0; s < sites_.size(); ++s) {
    for (const std::size_t i : sites_[s].items) {
      items_[i].site = s;
    }
  }
  leave_single_rows();
}

/// Excludes small blocks of a line that has a group, which were not joined as its first rows: an
/// entry for them would match the whole group.
void analysis_input::leave_single_rows() {
  const auto caller_of = [&](const site& of) {
    const auto returns = profile::returns_of(items_[of.items.front()].what->made_at);
    return returns.empty() ? std::tuple(of.program, std::string(), std::uint64_t{0})
                           : std::tuple(of.program, returns[0]->module, returns[0]->offset);
  };
  const auto kind_of = [&](const site& of) { return items_[of.items.front()].what->kind; };
  std::set<std::tuple<std::size_t, std::string, std::uint64_t>> grouped;
  for (const site& each : sites_) {
    if (kind_of(each) == object_kind::group) {
      grouped.insert(caller_of(each));
    }
  }
  for (site& each : sites_) {
    const bool is_small = std::ranges::all_of(each.items, [&](std::size_t i) {
      return items_[i].what->bytes < profile::largest_row_bytes;
    });
    const bool is_row =
        kind_of(each) == object_kind::heap && is_small && grouped.contains(caller_of(each));
    each.placeable = each.placeable && !is_row;
  }
}

void analysis_input::add_bytes() {
  for (const item& each : items_) {
    for (const profile::use_run& run : each.uses) {
      for_each_use(*this, each, run, [&](std::size_t w, double amount) {
        workers_[w].bytes += amount * each.unit_bytes * (1 + each.write_share);
      });
    }
  }
}

positions analysis_input::items_of(const positions& sites) const {
  positions all;
  for (const std::size_t s : sites) {
    all.insert(all.end(), sites_[s].items.begin(), sites_[s].items.end());
  }
  return all;
}

std::size_t filled_pages(const analysis_input& of, const item& what) {
  const std::uint64_t page = of.profile().page_bytes;
  const std::uint64_t filled = (what.what->bytes + page - 1) / page;
  return static_cast<std::size_t>(what.what->pages == filled + 1 && filled > 0 ? filled
                                                                               : what.what->pages);
}

double bytes_moved(const analysis_input& of, const positions& sites) {
  return sum_over(sites, [&](std::size_t s) { return of.sites()[s].bytes; });
}

} // namespace nodewise::advise
