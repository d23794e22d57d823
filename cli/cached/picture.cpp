// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/cached/picture.hpp"

#include <algorithm>
#include <cerrno>
#include <utility>
#include <vector>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/error.hpp>

#include "report/bar.hpp"

namespace nodewise::cli {

namespace {

constexpr std::size_t most_columns = 96;

std::uint64_t bytes_of(std::uint64_t pages, const page_cache::file_location& of) {
  return std::min(pages * of.page_bytes, of.bytes); // the last page may be beyond the end
}

} // namespace

std::string strip_text(const page_cache::file_location& of, const report::style& how) {
  if (!of.is_known) {
    return "  where its pages are: unavailable; the kernel reports it only to users that own the "
           "file or may write it\n";
  }
  std::vector<report::page_run> runs;
  for (const page_cache::cached_run& each : of.runs) {
    runs.push_back(
        {each.pages, each.node == page_cache::not_cached ? report::not_resident : each.node});
  }
  if (runs.empty()) {
    return "  it has no pages\n";
  }
  const report::strip drawn(std::move(runs));
  const std::size_t columns = std::clamp<std::size_t>(how.width, 20, most_columns) - 4;
  return fmt::format("  {}\n  {}\n", drawn.draw(how, columns), drawn.legend(how));
}

nlohmann::ordered_json cached_json(const page_cache::file_location& of) {
  if (!of.is_known) {
    return "unavailable";
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::object();
  for (const auto& [node, pages] : of.pages_by_node()) {
    if (node != page_cache::not_cached) {
      const std::string name = node == unknown_node ? "unknown" : fmt::format("{}", node);
      all[name] = pages * of.page_bytes;
    }
  }
  return all;
}

std::string refused_text(int errno_value) {
  return errno_text(errno_value) + (errno_value == EISDIR ? ", name the files in it" : "");
}

std::string cached_text(const page_cache::file_location& of) {
  const std::string size = report::format_bytes(of.bytes);
  return of.is_known ? fmt::format("{} of {} cached",
                                   report::format_bytes(bytes_of(of.cached_pages(), of)), size)
                     : size;
}

} // namespace nodewise::cli
