// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/pages/files.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>
#include <nodewise/topology.hpp>

#include "base/text.hpp"
#include "cli/cached/picture.hpp"
#include "cli/frame/result.hpp"
#include "cli/verbs/pages/flags.hpp"
#include "observe/mapped_by.hpp"
#include "report/envelope.hpp"
#include "report/progress.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using report::tone;

located_file locate(const std::string& path) {
  located_file made;
  made.path = path;
  const auto file = sys::cached_file::open(path);
  if (!file) {
    made.errno_value = file.errno_value;
    return made;
  }
  report::progress shown(fmt::format("looking at {}", printable(path)), file.value.size().value);
  std::uint64_t bytes = 0;
  auto found = page_cache::locate(sys::real_kernel(), file.value, [&](std::uint64_t more) {
    bytes += more;
    shown.done(bytes);
  });
  made.errno_value = found.errno_value;
  made.where = std::move(found.value);
  made.mapped_by = observe::mapped_by(path);
  return made;
}

std::string text_of(const located_file& of, const report::style& how) {
  const std::string name = report::paint(how, tone::strong, printable(of.path));
  if (of.errno_value != 0) {
    return fmt::format("{}: {}\n", name, refused_text(of.errno_value));
  }
  const std::string mapped =
      of.mapped_by.empty() ? "" : fmt::format("; mapped by {}", joined(of.mapped_by, ", "));
  return fmt::format("{}: {}{}\n{}", name, cached_text(of.where), mapped,
                     strip_text(of.where, how));
}

ordered_json run_json(const page_cache::cached_run& run) {
  const ordered_json node = run.node == page_cache::not_cached ? ordered_json("not cached")
                            : run.node == unknown_node         ? ordered_json("unknown")
                                                               : ordered_json(to_int(run.node));
  return {{"pages", run.pages}, {"node", node}};
}

ordered_json located_json(const located_file& of) {
  ordered_json one = {{"path", of.path}};
  if (of.errno_value != 0) {
    one["errno"] = of.errno_value;
    return one;
  }
  one["bytes"] = of.where.bytes;
  one["page_bytes"] = of.where.page_bytes;
  one["cached"] = cached_json(of.where);
  one["runs"] = report::json_list(of.where.runs, run_json);
  one["mapped_by"] = of.mapped_by;
  return one;
}

} // namespace

std::string files_json(const cached_files& what) {
  ordered_json all =
      report::envelope("files", 1, machine_json(what.on), settings_json(sys::real_kernel()));
  all["files"] = report::json_list(what.files, located_json);
  return report::json_text(all);
}

int show_cached_files(const invocation& given) {
  check_output(given);
  if (given.operands.empty()) {
    throw error(error_kind::usage, "nodewise pages --file", "no file is named",
                "write nodewise pages --file FILE...");
  }
  const topology where = topology::from_sysfs();
  cached_files result{where.machine(), {}};
  std::ranges::transform(given.operands, std::back_inserter(result.files), locate);
  show_result(given, files_forms, result, [&](const report::style& how) {
    return joined(result.files, "", [&](const located_file& each) { return text_of(each, how); });
  });
  const bool failed = std::ranges::any_of(
      result.files, [](const located_file& each) { return each.errno_value != 0; });
  return failed ? exit_code::bad_input : exit_code::ok;
}

} // namespace nodewise::cli
