// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profiles/sites.hpp"

#include <algorithm>
#include <set>

#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "profile/places.hpp"
#include "report/envelope.hpp"
#include "report/style.hpp"

namespace nodewise::cli {

namespace {

/// Accumulates the sums of one site over its objects.
struct sums {
  profile_site site;
  std::map<node_id, double> pages;
  std::map<std::string, std::uint64_t> touched_at; ///< pages by line
  std::set<profile::thread_index> touched_by;
  double remote = 0;
  double located = 0;

  void add(const profile::object& what, const profile::thread_places& threads) {
    ++site.objects;
    site.resident += what.resident;
    site.bytes += what.bytes;
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
    for (const profile::use_run& run : what.uses) {
      for (const profile::use& each : run.by) {
        site.used += each.amount * profile::moved_per_use(what);
      }
    }
    const auto see = [this](profile::thread_index /*by*/, node_id from, node_id memory,
                            double amount) {
      if (from != unknown_node && memory != unknown_node) {
        located += amount;
        remote += from == memory ? 0 : amount;
      }
    };
    profile::for_each_moved_part(what, threads, see);
  }

  profile_site finish() {
    double all = 0;
    for (const auto& [node, count] : pages) {
      all += count;
    }
    for (const auto& [node, count] : pages) {
      site.on_node.emplace_back(node, count / all);
    }
    using line = std::pair<const std::string, std::uint64_t>;
    const auto most = std::ranges::max_element(touched_at, {}, &line::second);
    site.touched_at = most == touched_at.end() ? "" : most->first;
    site.touching_lines = touched_at.size();
    site.touching_threads = touched_by.size();
    if (located > 0) {
      site.remote = remote / located;
    }
    return std::move(site);
  }
};

} // namespace

std::map<site_key, profile_site> sites_of(const profile::profile& of) {
  std::map<site_key, sums> all;
  for (const profile::program& program : of.programs) {
    const std::vector<std::string> names = profile::names_of(program);
    const profile::thread_places threads(program);
    for (std::size_t i = 0; i < names.size(); ++i) {
      all[{program.name, names[i]}].add(program.objects[i], threads);
    }
  }
  std::map<site_key, profile_site> made;
  for (auto& [key, each] : all) {
    made.emplace(key, each.finish());
  }
  return made;
}

std::string nodes_text(const profile_site& of) {
  const std::string text = joined(of.on_node, ", ", [](const auto& each) {
    return fmt::format("N{} {}", each.first, report::format_percent(each.second));
  });
  return text.empty() ? "-" : text;
}

nlohmann::ordered_json profile_site_json(const profile_site& of) {
  const auto share_json = [](const auto& each) -> nlohmann::ordered_json {
    return {{"node", each.first}, {"share", each.second}};
  };
  return {{"objects", of.objects},
          {"bytes", of.bytes},
          {"nodes", report::json_list(of.on_node, share_json)},
          {"remote", report::or_unavailable(of.remote)},
          {"used", of.used},
          {"touched_at", of.touched_at},
          {"touching_threads", of.touching_threads}};
}

} // namespace nodewise::cli
