// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/traffic/view.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using report::add_if_any;
using report::json_list;
using report::or_unavailable;
using traffic::phase;

ordered_json node_json(node_id node) {
  return to_int(node) >= 0 ? ordered_json(to_int(node)) : ordered_json("unknown");
}

/// The fields of both phases: "init" and "use".
template <class Write>
void add_phases(ordered_json& to, const Write& write) {
  for (const phase when : {phase::initialisation, phase::use}) {
    to[std::string(traffic::to_string(when))] = write(when);
  }
}

ordered_json locality_json(const traffic::locality& where) {
  return {{"local_lines", where.local},
          {"remote_lines", where.remote},
          {"unknown_lines", where.unknown},
          {"local", or_unavailable(where.share())}};
}

ordered_json with_volume(ordered_json of, const traffic::volume& lines, std::uint64_t line_bytes) {
  of["fills"] = lines.fills;
  of["write_backs"] = lines.write_backs;
  of["streams"] = lines.streams;
  of["bytes"] = lines.moved() * line_bytes;
  return of;
}

ordered_json model_json(const traffic::counts& of) {
  return {{"line_bytes", of.line_bytes},
          {"page_bytes", of.page_bytes},
          {"coherence", of.coherence},
          {"caches", json_list(of.caches,
                               [](const traffic::modelled_cache& c) -> ordered_json {
                                 return {{"level", c.level},
                                         {"kind", c.kind},
                                         {"bytes", c.bytes},
                                         {"ways", c.ways},
                                         {"shared_by", c.shared}};
                               })},
          {"phases",
           {{"init",
             "of a page: until a second thread uses it, or the first requests a line of it again "
             "after others have worked; or everything before NODEWISE_MARKER_USE()"},
            {"use", "everything else"}}}};
}

ordered_json total_json(const traffic::counts& of, phase when) {
  const traffic::phase_totals total = traffic::totals(of, when);
  ordered_json one = with_volume(locality_json(total.where), total.lines, of.line_bytes);
  one["dirty"] = total.dirty;
  one["imbalance"] = or_unavailable(traffic::imbalance(traffic::memory_loads(of, when)));
  return one;
}

ordered_json cells_json(const traffic::counts& of) {
  return json_list(of.cells, [&](const traffic::cell& c) {
    ordered_json one = with_volume({{"cpu", to_int(c.cpu)},
                                    {"from", node_json(of.node_of(c.cpu))},
                                    {"to", node_json(c.to)},
                                    {"phase", traffic::to_string(c.when)}},
                                   c.lines, of.line_bytes);
    one["dirty"] = c.dirty;
    return one;
  });
}

ordered_json program_json(const traffic::program& p) {
  return {{"pid", p.pid}, {"parent", p.parent}, {"name", p.name}, {"ended", p.ended}};
}

ordered_json flows_json(const traffic::site& of, phase when, std::uint64_t line_bytes) {
  return json_list(of.flows[traffic::index_of(when)], [&](const auto& flow) {
    const auto& [from, to] = flow.first;
    return with_volume({{"from", node_json(from)}, {"to", node_json(to)}}, flow.second, line_bytes);
  });
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
  one["pages_per_node"] = json_list(site.what.pages, [](const auto& each) -> ordered_json {
    return {{"node", node_json(each.first)}, {"pages", each.second}};
  });
  add_phases(one, [&](phase when) {
    ordered_json its = locality_json(site.what.where(when));
    its["flows"] = flows_json(site.what, when, line_bytes);
    return its;
  });
  return one;
}

ordered_json pages_json(const traffic::page_run& run) {
  ordered_json one = {{"pid", run.pid}};
  if (run.object) {
    one["object"] = *run.object;
    one["first_page"] = run.first;
  } else {
    one["address"] = hexadecimal(run.first);
  }
  one["pages"] = run.count;
  one["node"] = node_json(run.to);
  add_phases(one, [&](phase when) -> ordered_json {
    return {{"local_fills", run.local[traffic::index_of(when)]},
            {"remote_fills", run.remote[traffic::index_of(when)]}};
  });
  one["user"] = run.user == unknown_node ? ordered_json("none") : node_json(run.user);
  return one;
}

/// Each object has the number of its site in `sites`.
ordered_json objects_json(const traffic::summary& what) {
  std::map<traffic::site::identity, std::size_t> number;
  for (std::size_t i = 0; i < what.sites.size(); ++i) {
    number[what.sites[i].what.key()] = i;
  }
  return json_list(what.all.objects, [&](const traffic::object& o) {
    ordered_json one = {{"pid", o.pid},
                        {"object", o.id},
                        {"site", number.at(traffic::site_of(o).key())},
                        {"start", hexadecimal(o.start)},
                        {"bytes", o.bytes},
                        {"freed", o.freed}};
    if (!o.module.empty()) {
      one["caller"] = fmt::format("{}+{:#x}", o.module, o.offset);
    }
    return one;
  });
}

ordered_json line_json(const traffic::source_line& line) {
  ordered_json one = {{"name", line.name.label}};
  add_if_any(one, "function", line.name.function);
  if (!line.name.file.empty()) {
    one["file"] = line.name.file;
    one["line"] = line.name.line;
  }
  add_phases(one, [&](phase when) { return locality_json(line.fills[traffic::index_of(when)]); });
  return one;
}

ordered_json shared_json(const traffic::named_shared_line& line) {
  ordered_json one = {
      {"name", line.name}, {"pid", line.what.pid}, {"address", hexadecimal(line.what.address)}};
  add_if_any(one, "object", line.what.object);
  one["transfers"] = line.what.transfers;
  one["invalidations"] = line.what.invalidations;
  one["rewrites"] = line.what.rewrites;
  one["writers"] = line.what.writers.to_string();
  one["readers"] = line.what.readers.to_string();
  one["sharing"] = line.what.overlap ? "true" : "false";
  return one;
}

ordered_json regions_json(const traffic::counts& of) {
  return json_list(of.regions, [&](const traffic::region_traffic& r) {
    return with_volume(
        {{"name", r.name}, {"pid", r.pid}, {"from", node_json(r.from)}, {"to", node_json(r.to)}},
        r.lines, of.line_bytes);
  });
}

ordered_json transfers_json(const traffic::counts& of) {
  return json_list(of.transfers, [&](const traffic::transfer& t) -> ordered_json {
    return {{"cpu", to_int(t.cpu)},
            {"node", node_json(of.node_of(t.cpu))},
            {"local", t.local},
            {"remote", t.remote},
            {"invalidations", t.invalidations}};
  });
}

} // namespace

ordered_json traffic_json(const traffic::summary& what, const machine& on, ordered_json settings) {
  const traffic::counts& of = what.all;
  ordered_json result = report::envelope("traffic", 1, machine_json(on), std::move(settings));
  result["complete"] = true;
  result["model"] = model_json(of);
  result["selftest"] = {{"processors", of.tested.processors}, {"pages", of.tested.pages}};
  result["accesses"] = or_unavailable(of.accesses);
  result["programs"] = json_list(of.programs, program_json);
  result["judged_by"] = traffic::to_string(what.judged);
  add_phases(result, [&](phase when) { return total_json(of, when); });
  result["imbalance"] = or_unavailable(traffic::imbalance(traffic::memory_loads(of, std::nullopt)));
  result["matrix"] = cells_json(of);
  result["sites"] = json_list(
      what.sites, [&](const traffic::named_site& site) { return site_json(site, of.line_bytes); });
  result["objects"] = objects_json(what);
  result["pages"] = json_list(of.pages, pages_json);
  result["lines"] = json_list(what.lines, line_json);
  result["shared"] = json_list(what.shared, shared_json);
  result["regions"] = regions_json(of);
  result["transfers"] = transfers_json(of);
  result["predicted"] = predicted_json(predict_parts(of, what.judged, on));
  result["not_counted"] = not_counted(of);
  return result;
}

} // namespace nodewise::cli
