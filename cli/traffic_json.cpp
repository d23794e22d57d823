// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <array>
#include <map>

#include <nlohmann/json.hpp>

#include "base/hexadecimal.hpp"
#include "cli/traffic_predicted.hpp"
#include "cli/traffic_view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using traffic::phase;

constexpr std::array both_phases = {phase::initialisation, phase::use};

ordered_json node_json(node_id node) {
  return to_int(node) >= 0 ? ordered_json(to_int(node)) : ordered_json("unknown");
}

ordered_json locality_json(const traffic::locality& where) {
  return {{"local_lines", where.local},
          {"remote_lines", where.remote},
          {"unknown_lines", where.unknown},
          {"local", report::or_unavailable(where.share())}};
}

void add_volume(ordered_json& to, const traffic::volume& lines, std::uint64_t line_bytes) {
  to["fills"] = lines.fills;
  to["write_backs"] = lines.write_backs;
  to["streams"] = lines.streams;
  to["bytes"] = lines.moved() * line_bytes;
}

ordered_json model_json(const traffic::counts& of) {
  ordered_json caches = ordered_json::array();
  for (const traffic::modelled_cache& c : of.caches) {
    caches.push_back({{"level", c.level},
                      {"kind", c.kind},
                      {"bytes", c.bytes},
                      {"ways", c.ways},
                      {"shared_by", c.shared}});
  }
  return {{"line_bytes", of.line_bytes},
          {"page_bytes", of.page_bytes},
          {"coherence", of.coherence},
          {"caches", std::move(caches)},
          {"phases",
           {{"init",
             "of a page: until a second thread uses it, or the first asks for a line of it again "
             "after others were at work; or all before NODEWISE_MARKER_USE()"},
            {"use", "everything else"}}}};
}

ordered_json total_json(const traffic::counts& of, phase when) {
  const traffic::phase_totals total = traffic::totals(of, when);
  ordered_json one = locality_json(total.where);
  add_volume(one, total.lines, of.line_bytes);
  one["dirty"] = total.dirty;
  one["imbalance"] = report::or_unavailable(traffic::imbalance(traffic::memory_loads(of, when)));
  return one;
}

ordered_json cells_json(const traffic::counts& of) {
  ordered_json all = ordered_json::array();
  for (const traffic::cell& c : of.cells) {
    ordered_json one = {{"cpu", to_int(c.cpu)},
                        {"from", node_json(of.node_of(c.cpu))},
                        {"to", node_json(c.to)},
                        {"phase", traffic::to_string(c.when)}};
    add_volume(one, c.lines, of.line_bytes);
    one["dirty"] = c.dirty;
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json programs_json(const traffic::counts& of) {
  ordered_json all = ordered_json::array();
  for (const traffic::program& p : of.programs) {
    all.push_back({{"pid", p.pid}, {"parent", p.parent}, {"name", p.name}, {"ended", p.ended}});
  }
  return all;
}

ordered_json flows_json(const traffic::site& of, phase when, std::uint64_t line_bytes) {
  ordered_json all = ordered_json::array();
  for (const auto& [way, lines] : of.flows[traffic::index_of(when)]) {
    ordered_json one = {{"from", node_json(way.first)}, {"to", node_json(way.second)}};
    add_volume(one, lines, line_bytes);
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json site_json(const traffic::named_site& site, std::uint64_t line_bytes) {
  ordered_json one = {{"name", site.name.label}, {"kind", traffic::to_string(site.what.kind)}};
  if (!site.name.file.empty()) {
    one["file"] = site.name.file;
    one["line"] = site.name.line;
    one["function"] = site.name.function;
  }
  one["objects"] = site.what.objects;
  one["freed"] = site.what.freed;
  one["bytes"] = site.what.bytes;
  ordered_json pages = ordered_json::array();
  for (const auto& [node, count] : site.what.pages) {
    pages.push_back({{"node", node_json(node)}, {"pages", count}});
  }
  one["pages_per_node"] = std::move(pages);
  for (const phase when : both_phases) {
    ordered_json its = locality_json(site.what.where(when));
    its["flows"] = flows_json(site.what, when, line_bytes);
    one[std::string(traffic::to_string(when))] = std::move(its);
  }
  return one;
}

ordered_json pages_json(const traffic::counts& of) {
  ordered_json all = ordered_json::array();
  for (const traffic::page_run& run : of.pages) {
    ordered_json one = {{"pid", run.pid}};
    if (run.object) {
      one["object"] = *run.object;
      one["first_page"] = run.first;
    } else {
      one["address"] = hexadecimal(run.first);
    }
    one["pages"] = run.count;
    one["node"] = node_json(run.to);
    for (const phase when : both_phases) {
      const std::size_t i = traffic::index_of(when);
      one[std::string(traffic::to_string(when))] = {{"local_fills", run.local[i]},
                                                    {"remote_fills", run.remote[i]}};
    }
    one["user"] = run.user == unknown_node ? ordered_json("none") : node_json(run.user);
    all.push_back(std::move(one));
  }
  return all;
}

/// Each object has the number of its site in `sites`.
ordered_json objects_json(const traffic::summary& what) {
  std::map<traffic::site::identity, std::size_t> number;
  for (std::size_t i = 0; i < what.sites.size(); ++i) {
    number[what.sites[i].what.key()] = i;
  }
  ordered_json all = ordered_json::array();
  for (const traffic::object& o : what.all.objects) {
    ordered_json one = {{"pid", o.pid},
                        {"object", o.id},
                        {"site", number.at(traffic::site_of(o).key())},
                        {"start", hexadecimal(o.start)},
                        {"bytes", o.bytes},
                        {"freed", o.freed}};
    if (!o.module.empty()) {
      one["caller"] = o.module + "+" + hexadecimal(o.offset);
    }
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json lines_json(const traffic::summary& what) {
  ordered_json all = ordered_json::array();
  for (const traffic::source_line& line : what.lines) {
    ordered_json one = {{"name", line.name.label}};
    if (!line.name.function.empty()) {
      one["function"] = line.name.function;
    }
    if (!line.name.file.empty()) {
      one["file"] = line.name.file;
      one["line"] = line.name.line;
    }
    for (const phase when : both_phases) {
      one[std::string(traffic::to_string(when))] =
          locality_json(line.fills[traffic::index_of(when)]);
    }
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json shared_json(const traffic::summary& what) {
  ordered_json all = ordered_json::array();
  for (const traffic::named_shared_line& line : what.shared) {
    ordered_json one = {
        {"name", line.name}, {"pid", line.what.pid}, {"address", hexadecimal(line.what.address)}};
    if (line.what.object) {
      one["object"] = *line.what.object;
    }
    one["transfers"] = line.what.transfers;
    one["invalidations"] = line.what.invalidations;
    one["rewrites"] = line.what.rewrites;
    one["writers"] = line.what.writers.to_string();
    one["readers"] = line.what.readers.to_string();
    one["sharing"] = line.what.overlap ? "true" : "false";
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json regions_json(const traffic::counts& of) {
  ordered_json all = ordered_json::array();
  for (const traffic::region_traffic& r : of.regions) {
    ordered_json one = {
        {"name", r.name}, {"pid", r.pid}, {"from", node_json(r.from)}, {"to", node_json(r.to)}};
    add_volume(one, r.lines, of.line_bytes);
    all.push_back(std::move(one));
  }
  return all;
}

ordered_json transfers_json(const traffic::counts& of) {
  ordered_json all = ordered_json::array();
  for (const traffic::transfer& t : of.transfers) {
    all.push_back({{"cpu", to_int(t.cpu)},
                   {"node", node_json(of.node_of(t.cpu))},
                   {"local", t.local},
                   {"remote", t.remote},
                   {"invalidations", t.invalidations}});
  }
  return all;
}

} // namespace

ordered_json traffic_json(const traffic::summary& what, const machine& on, ordered_json settings) {
  const traffic::counts& of = what.all;
  ordered_json result = report::envelope("traffic", 1, machine_json(on), std::move(settings));
  result["complete"] = true;
  result["model"] = model_json(of);
  result["selftest"] = {{"processors", of.tested.processors}, {"pages", of.tested.pages}};
  result["accesses"] = report::or_unavailable(of.accesses);
  result["programs"] = programs_json(of);
  result["judged_by"] = traffic::to_string(what.judged);
  result["init"] = total_json(of, phase::initialisation);
  result["use"] = total_json(of, phase::use);
  result["imbalance"] =
      report::or_unavailable(traffic::imbalance(traffic::memory_loads(of, std::nullopt)));
  result["matrix"] = cells_json(of);
  ordered_json sites = ordered_json::array();
  for (const traffic::named_site& site : what.sites) {
    sites.push_back(site_json(site, of.line_bytes));
  }
  result["sites"] = std::move(sites);
  result["objects"] = objects_json(what);
  result["pages"] = pages_json(of);
  result["lines"] = lines_json(what);
  result["shared"] = shared_json(what);
  result["regions"] = regions_json(of);
  result["transfers"] = transfers_json(of);
  result["predicted"] = predicted_json(predict_parts(of, what.judged, on));
  result["not_counted"] = not_counted(of);
  return result;
}

} // namespace nodewise::cli
