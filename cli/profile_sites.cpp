// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profile_sites.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/printable.hpp"
#include "profile/names.hpp"
#include "report/envelope.hpp"
#include "report/table.hpp"

namespace nodewise::cli {

namespace {

/// Accumulates the sums of one site over its objects.
struct sums {
  profile_site told;
  std::map<node_id, double> pages;
  std::map<std::string, std::uint64_t> touched_at; ///< pages by line
  std::set<profile::thread_index> touched_by;
  double remote = 0;
  double located = 0;

  void add(const profile::object& what, const profile::program& in) {
    ++told.objects;
    told.resident += what.resident;
    told.bytes += what.bytes;
    for (const profile::resident_run& run : what.where) {
      if (run.node != unknown_node) {
        pages[run.node] += static_cast<double>(run.count);
      }
    }
    for (const profile::first_touch& touch : what.touches) {
      if (const profile::frame* const own = profile::own_frame(touch.where)) {
        touched_at[profile::label_of(*own)] += touch.pages;
      }
      if (touch.by) {
        touched_by.insert(*touch.by);
      }
    }
    add_uses(what, in);
  }

  void add_uses(const profile::object& what, const profile::program& in) {
    auto where = what.where.begin();
    for (const profile::use_run& run : what.uses) {
      while (where != what.where.end() && where->first + where->count <= run.first) {
        ++where;
      }
      for (auto at = where; at != what.where.end() && at->first < run.first + run.count; ++at) {
        const std::uint64_t first = std::max(at->first, run.first);
        const std::uint64_t last = std::min(at->first + at->count, run.first + run.count);
        add_part(run, static_cast<double>(last - first) / static_cast<double>(run.count), at->node,
                 in);
      }
    }
  }

  void add_part(const profile::use_run& run, double part, node_id node,
                const profile::program& in) {
    for (const profile::use& each : run.by) {
      const node_id home = in.threads[each.by].home();
      told.used += each.amount * part;
      if (home != unknown_node && node != unknown_node) {
        located += each.amount * part;
        remote += home == node ? 0 : each.amount * part;
      }
    }
  }

  profile_site finish() {
    double all = 0;
    for (const auto& [node, count] : pages) {
      all += count;
    }
    for (const auto& [node, count] : pages) {
      told.on_node.emplace_back(node, count / all);
    }
    using line = std::pair<const std::string, std::uint64_t>;
    const auto most = std::ranges::max_element(touched_at, {}, &line::second);
    told.touched_at = most == touched_at.end() ? "" : most->first;
    told.touching_lines = touched_at.size();
    told.touching_threads = touched_by.size();
    if (located > 0) {
      told.remote = remote / located;
    }
    return std::move(told);
  }
};

} // namespace

std::map<site_key, profile_site> sites_of(const profile::profile& of) {
  std::map<site_key, sums> all;
  for (const profile::program& program : of.programs) {
    const std::vector<std::string> names = profile::names_of(program);
    for (std::size_t i = 0; i < names.size(); ++i) {
      all[{program.name, names[i]}].add(program.objects[i], program);
    }
  }
  std::map<site_key, profile_site> made;
  for (auto& [key, each] : all) {
    made.emplace(key, each.finish());
  }
  return made;
}

std::string nodes_text(const profile_site& of) {
  std::string text;
  for (const auto& [node, share] : of.on_node) {
    text += (text.empty() ? "N" : ", N") + std::to_string(to_int(node)) + " " +
            report::format_percent(share);
  }
  return text.empty() ? "-" : text;
}

nlohmann::ordered_json site_json(const profile_site& of) {
  nlohmann::ordered_json nodes = nlohmann::ordered_json::array();
  for (const auto& [node, share] : of.on_node) {
    nodes.push_back({{"node", to_int(node)}, {"share", share}});
  }
  return {{"objects", of.objects},
          {"bytes", of.bytes},
          {"nodes", std::move(nodes)},
          {"remote", report::or_unavailable(of.remote)},
          {"used", of.used},
          {"touched_at", of.touched_at},
          {"touching_threads", of.touching_threads}};
}

std::string sites_text(const profile::profile& of, const report::style& how) {
  const std::map<site_key, profile_site> all = sites_of(of);
  std::vector<const std::pair<const site_key, profile_site>*> largest;
  for (const auto& each : all) {
    largest.push_back(&each);
  }
  std::ranges::sort(largest, [](const auto* a, const auto* b) {
    return std::pair(b->second.resident, a->first) < std::pair(a->second.resident, b->first);
  });
  report::table rows({{"memory", report::align::left, true},
                      {"size", report::align::right},
                      {"pages on", report::align::left, true},
                      {"touched first at", report::align::left, true},
                      {"by"}},
                     2);
  constexpr std::size_t most = 8;
  constexpr std::uint64_t small = 100; // sites below 1/100 of the largest are left out
  for (std::size_t i = 0; i < std::min(most, largest.size()); ++i) {
    const auto& [key, site] = *largest[i];
    if (site.resident < largest.front()->second.resident / small) {
      break;
    }
    const std::string others =
        site.touching_lines > 1 ? " +" + std::to_string(site.touching_lines - 1) : "";
    const std::string objects = site.objects > 1 ? " x" + std::to_string(site.objects) : "";
    const std::string threads = site.touching_threads == 1
                                    ? "1 thread"
                                    : std::to_string(site.touching_threads) + " threads";
    rows.add({printable(key.second) + objects, report::format_bytes(site.bytes), nodes_text(site),
              site.touched_at.empty() ? "-" : printable(site.touched_at) + others,
              site.touching_threads == 0 ? "-" : threads});
  }
  return rows.empty() ? "" : rows.to_string(how);
}

} // namespace nodewise::cli
