// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/warm/view.hpp"

#include <cerrno>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "base/text.hpp"
#include "cli/cached/picture.hpp"
#include "cli/frame/result.hpp"
#include "cli/verbs/warm/flags.hpp"
#include "report/envelope.hpp"
#include "topology/machine_json.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using report::tone;

/// Why pages are not where they shall be, and what would help.
std::string reason_text(int why, const placed_file& of) {
  switch (why) {
  case EACCES:
    return of.mapped_by.empty()
               ? "other processes have mapped them; only CAP_SYS_NICE may move them then"
               : fmt::format("mapped by {} as well; only CAP_SYS_NICE may move them then",
                             joined(of.mapped_by, ", "));
  case ENOMEM:
    return "there is no free memory for them; `nodewise drop-cache` frees what other files occupy";
  case ENOENT:
    return "they are not cached: evicted again, or holes of a file in memory";
  case EBUSY:
    return "in use at this moment, or the file system cannot move pages; try again";
  default:
    return errno_text(why);
  }
}

std::string done_text(const placed_file& of) {
  std::vector<std::string> parts;
  const std::uint64_t page = of.done.now.page_bytes;
  if (of.done.read_bytes.value_or(0) != 0) {
    parts.push_back(fmt::format("{} read", report::format_bytes(*of.done.read_bytes)));
  }
  if (of.done.moved_pages != 0) {
    parts.push_back(fmt::format("{} moved", report::format_bytes(of.done.moved_pages * page)));
  }
  return joined(parts, ", ");
}

std::string share_text(const placed_file& of) {
  if (!of.done.now.is_known) {
    return "";
  }
  return of.pages() == 0
             ? ""
             : fmt::format("{} where asked",
                           report::format_percent(static_cast<double>(of.on_owner_pages) /
                                                  static_cast<double>(of.pages())));
}

std::string file_text(const placed_file& of, const report::style& how) {
  const std::string name = report::paint(how, tone::strong, printable(of.path));
  if (of.errno_value != 0) {
    return fmt::format("{}: {}\n", name, refused_text(of.errno_value));
  }
  if (!of.problem.empty()) {
    return fmt::format("{}: {}\n", name, printable(of.problem));
  }
  std::string text = fmt::format("{}: {}", name, cached_text(of.done.now));
  for (const std::string& part : {share_text(of), done_text(of)}) {
    text += part.empty() ? "" : "; " + part;
  }
  text += "\n" + strip_text(of.done.now, how);
  for (const auto& [why, pages] : of.done.stayed) {
    text += report::warning_text(fmt::format("{} of {}: {}",
                                             report::format_bytes(pages * of.done.now.page_bytes),
                                             printable(of.path), reason_text(why, of)),
                                 how);
  }
  if (of.done.errno_value != 0) {
    text += report::warning_text(fmt::format("{}: reading ended at byte {}: {}", printable(of.path),
                                             of.done.ended_at, errno_text(of.done.errno_value)),
                                 how);
  }
  return text;
}

ordered_json file_json(const placed_file& of) {
  ordered_json one = {{"path", of.path}};
  if (of.errno_value != 0) {
    one["errno"] = of.errno_value;
    return one;
  }
  if (!of.problem.empty()) {
    one["problem"] = of.problem;
    return one;
  }
  one["bytes"] = of.done.now.bytes;
  one["cached_before"] = cached_json(of.done.before);
  one["cached_now"] = cached_json(of.done.now);
  one["on_owner_pages"] =
      of.done.now.is_known ? ordered_json(of.on_owner_pages) : ordered_json("unavailable");
  one["pages"] = of.pages();
  one["read_bytes"] = report::or_unavailable(of.done.read_bytes);
  one["moved_pages"] = of.done.moved_pages;
  one["stayed"] = ordered_json::array();
  for (const auto& [why, pages] : of.done.stayed) {
    one["stayed"].push_back({{"errno", why}, {"pages", pages}});
  }
  if (!of.mapped_by.empty()) {
    one["mapped_by"] = of.mapped_by;
  }
  if (of.done.errno_value != 0) {
    one["read_errno"] = of.done.errno_value;
    one["read_ended_at"] = of.done.ended_at;
  }
  return one;
}

} // namespace

std::uint64_t placed_file::pages() const {
  return done.now.page_bytes == 0
             ? 0
             : (done.now.bytes + done.now.page_bytes - 1) / done.now.page_bytes;
}

std::string warm_text(const warmed_files& what, const report::style& how) {
  std::string text =
      fmt::format("{}{}\n", what.only_checked ? "asked for: " : "placed: ", what.shown);
  for (const placed_file& each : what.files) {
    text += file_text(each, how);
  }
  return text;
}

std::string warm_json(const warmed_files& what) {
  ordered_json all =
      report::envelope("warm", 1, machine_json(what.on), settings_json(sys::real_kernel()));
  all["placement"] = what.placement;
  all["by_tensor"] = what.by_tensor;
  all["only_checked"] = what.only_checked;
  all["files"] = report::json_list(what.files, file_json);
  return report::json_text(all);
}

} // namespace nodewise::cli
