// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/analysis_input.hpp"

#include <map>
#include <set>
#include <tuple>

#include <nodewise/arithmetic.hpp>
#include <nodewise/error.hpp>

#include "base/text.hpp"

namespace nodewise::advise {

namespace {

using profile::object_kind;

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
  const bool is_only = most != pages.end() &&
                       static_cast<double>(most->second) >= nearly_all * static_cast<double>(all);
  return is_only ? std::optional(most->first) : std::nullopt;
}

/// Whether the cores are known to draw more together than their memory's figure: then the published
/// bandwidth is not the cores' limit.
bool cores_draw_more(const model::machine_costs& on) {
  constexpr double clearly = 1.1;
  std::vector<double> cores(on.size(), 0);
  for (const model::core_unit& core : on.cores) {
    cores[core.node] += on.core[core.node].value;
  }
  const positions both = positions_below(
      on.size(), [&](std::size_t n) { return cores[n] > 0 && on.memory[n].value > 0; });
  return !both.empty() && std::ranges::all_of(both, [&](std::size_t n) {
    return cores[n] != model::unlimited && cores[n] >= clearly * on.memory[n].value;
  });
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

/// Whether one parent started the same program more than once, mostly at the same time.
bool ran_together(const profile::program& a, const profile::program& b) {
  const double overlap = std::min(a.ended_s, b.ended_s) - std::max(a.began_s, b.began_s);
  const double shorter = std::min(a.ended_s - a.began_s, b.ended_s - b.began_s);
  return a.parent != 0 && a.parent == b.parent && a.name == b.name && a.build_id == b.build_id &&
         overlap > shorter / 2;
}

} // namespace

analysis_input::analysis_input(const profile::profile& of, const topology& on, positions together)
    : profile(of), machine(on), programs(std::move(together)), costs(model::costs_of(on.machine())),
      other_costs(cores_draw_more(costs)
                      ? costs
                      : model::costs_of(on.machine(), model::hypothesis::processors)) {
  node_set memories;
  for (std::size_t n = 0; n < costs.size(); ++n) {
    if (costs.memory[n].value > 0) {
      memories.insert(costs.nodes[n]);
    }
  }
  memory_of_ = model::nearest_memory(costs, memories);
  absolute = costs.absolute;
  for (const std::size_t program : programs) {
    const profile::program& each = profile.programs[program];
    assumed = assumed || each.use_from == profile::use_source::none;
    sampled = sampled || each.use_from == profile::use_source::hinting_faults;
    absolute = absolute && each.use_unit_bytes > 0;
  }
  absolute = absolute && !assumed;
  main_works_.assign(profile.programs.size(), 1);
  teams_.resize(profile.programs.size());
  for (const std::size_t program : programs) {
    const std::size_t first_worker = workers.size();
    add_workers(program);
    add_items(program, first_worker);
  }
  add_sites();
  mark_alone();
}

void analysis_input::add_workers(std::size_t program) {
  const std::size_t first = workers.size();
  const std::vector<profile::thread>& threads = profile.programs[program].threads;
  const positions mains = positions_where(threads, &profile::thread::main);
  const std::size_t main = mains.empty() ? 0 : mains.back();
  for (std::size_t t = 0; t < threads.size(); ++t) {
    worker each;
    each.program = program;
    each.thread = t;
    each.ordinal = t == main ? 0 : t < main ? t + 1 : t;
    for (const auto& [where, share] : threads[t].places()) {
      const std::size_t node = position_of(where);
      if (has_cores(node)) {
        each.parts.push_back({node, share});
      }
    }
    const double all = sum_over(each.parts, &worker::part::share);
    for (worker::part& part : each.parts) {
      part.share /= all;
    }
    const auto most = std::ranges::max_element(each.parts, {}, &worker::part::share);
    each.home = most == each.parts.end() ? nowhere : most->node;
    workers.push_back(std::move(each));
  }
  const std::span<worker> team = std::span(workers).subspan(first);
  mark_active(program, team);
  number_workers(program, team);
  mark_roaming(program, team);
}

void analysis_input::add_items(std::size_t program, std::size_t first_worker) {
  const profile::program& from = profile.programs[program];
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
    std::vector<double> known(costs.size() + 1, 0);
    made.now.add_pages(0, static_cast<double>(each.pages), 1, known);
    made.all_known = known.back() == 0;
    made.uses = from.use_from == profile::use_source::none
                    ? assume_uses(made)
                    : std::span<const profile::use_run>(each.uses);
    for (const profile::use_run& run : made.uses) {
      for_each_use(*this, made, run, [&](std::size_t w, double amount) {
        made.units += run.count > 0 ? amount : 0;
        workers[w].bytes += amount * made.unit_bytes * (1 + made.write_share);
      });
    }
    items.push_back(std::move(made));
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
    const std::size_t node = position_of(run.node);
    const bool known = node != nowhere && costs.memory[node].value > 0;
    until(run.first, costs.size());
    until(run.first + run.count, known ? node : costs.size());
  }
  if (of.where.empty()) { // freed before it was queried: use its first touches
    for (const profile::touched_run& run : of.touched) {
      const std::size_t node = position_of(run.from);
      until(run.first, costs.size());
      until(run.first + run.count, node == nowhere ? costs.size() : memory_of_[node]);
    }
  }
  until(std::max(of.pages, blocks.empty() ? 1 : blocks.back().last) + 1, costs.size());
  return model::page_map::of_blocks(std::move(blocks));
}

std::span<const profile::use_run> analysis_input::assume_uses(const item& of) {
  const profile::object& what = *of.what;
  std::vector<profile::use_run> uses;
  const std::optional<profile::thread_index> toucher = only_toucher(what);
  const bool by_main = toucher && of.first_worker + *toucher < workers.size() &&
                       workers[of.first_worker + *toucher].ordinal == 0;
  const auto page = static_cast<double>(profile.page_bytes);
  if (by_main && is_placeable(what.kind) && what.pages > 0) {
    const positions threads =
        positions_where(std::span(workers).subspan(of.first_worker), [](const worker& each) {
          return each.home != nowhere && each.number != nowhere;
        });
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
  for (const std::size_t program : programs) {
    names[program] = profile::names_of(profile.programs[program]);
  }
  for (std::size_t i = 0; i < items.size(); ++i) {
    const item& each = items[i];
    const bool placeable = is_placeable(each.what->kind) && each.what->pages > 0;
    const auto [at, fresh] = found.try_emplace(key_of(each), sites.size());
    if (fresh) {
      const profile::program& in = profile.programs[each.program];
      const auto position = static_cast<std::size_t>(each.what - in.objects.data());
      const std::string whose =
          in.rank && programs.size() > 1 ? fmt::format(" (rank {})", *in.rank) : "";
      sites.push_back({each.program, names[each.program][position] + whose, {}, 0, placeable});
      sites.back().places_itself = each.what->kind == object_kind::region;
    }
    site& of = sites[at->second];
    of.items.push_back(i);
    of.bytes += each.bytes();
    of.placeable = of.placeable || placeable;
    bytes += each.bytes();
  }
  std::ranges::sort(sites, {},
                    [](const site& each) { return std::pair(-each.bytes, each.items.front()); });
  for (std::size_t s = 0; s < sites.size(); ++s) {
    for (const std::size_t i : sites[s].items) {
      items[i].site = s;
    }
  }
  leave_single_rows();
}

/// Excludes small blocks of a line that has a group, which were not joined as its first rows: an
/// entry for them would match the whole group.
void analysis_input::leave_single_rows() {
  const auto caller_of = [&](const site& of) {
    const auto returns = profile::returns_of(items[of.items.front()].what->made_at);
    return returns.empty() ? std::tuple(of.program, std::string(), std::uint64_t{0})
                           : std::tuple(of.program, returns[0]->module, returns[0]->offset);
  };
  const auto kind_of = [&](const site& of) { return items[of.items.front()].what->kind; };
  std::set<std::tuple<std::size_t, std::string, std::uint64_t>> grouped;
  for (const site& each : sites) {
    if (kind_of(each) == object_kind::group) {
      grouped.insert(caller_of(each));
    }
  }
  for (site& each : sites) {
    const bool is_small = std::ranges::all_of(each.items, [&](std::size_t i) {
      return items[i].what->bytes < profile::largest_row_bytes;
    });
    const bool is_row =
        kind_of(each) == object_kind::heap && is_small && grouped.contains(caller_of(each));
    each.placeable = each.placeable && !is_row;
  }
}

positions analysis_input::items_of(const positions& of_sites) const {
  positions all;
  for (const std::size_t s : of_sites) {
    all.insert(all.end(), sites[s].items.begin(), sites[s].items.end());
  }
  return all;
}

std::size_t filled_pages(const analysis_input& of, const item& what) {
  const std::uint64_t page = of.profile.page_bytes;
  const std::uint64_t filled = (what.what->bytes + page - 1) / page;
  return static_cast<std::size_t>(what.what->pages == filled + 1 && filled > 0 ? filled
                                                                               : what.what->pages);
}

double bytes_moved(const analysis_input& of, const positions& sites) {
  return sum_over(sites, [&](std::size_t s) { return of.sites[s].bytes; });
}

std::vector<positions> jobs_of(const profile::profile& of) {
  std::vector<positions> jobs;
  for (std::size_t p = 0; p < of.programs.size(); ++p) {
    const profile::program& one = of.programs[p];
    const auto same = std::ranges::find_if(jobs, [&](const positions& job) {
      const profile::program& first = of.programs[job.front()];
      return (one.rank && first.rank) || ran_together(one, first);
    });
    if (same != jobs.end()) {
      same->push_back(p);
    } else {
      jobs.push_back({p});
    }
  }
  return jobs;
}

positions job_of(const profile::profile& of, std::size_t program) {
  for (const positions& job : jobs_of(of)) {
    if (std::ranges::find(job, program) != job.end()) {
      return job;
    }
  }
  throw error(error_kind::usage, fmt::format("making a plan for program {}", program),
              fmt::format("the profile has {}", counted(of.programs.size(), "program")),
              "choose one of these");
}

} // namespace nodewise::advise
