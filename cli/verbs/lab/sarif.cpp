// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A check in SARIF 2.1.0 (https://docs.oasis-open.org/sarif/sarif/v2.1.0/).
#include <algorithm>
#include <cctype>
#include <filesystem>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "base/text.hpp"
#include "cli/verbs/lab/flags.hpp"
#include "cli/verbs/lab/traffic_check.hpp"
#include "report/envelope.hpp"
#include "report/style.hpp"
#include "symbols/names.hpp"

namespace nodewise::cli {

namespace {

using nlohmann::ordered_json;
using traffic::locality;
namespace fs = std::filesystem;

constexpr std::size_t most_related = 20;
constexpr std::string_view base_of_paths = "%SRCROOT%"; // the customary name of a project's folder

/// Bytes that a path in a URI cannot hold as they are become %XX (RFC 3986).
std::string percent_encoded(std::string_view path) {
  constexpr std::string_view kept =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~/";
  std::string text;
  for (const char each : path) {
    const auto byte = static_cast<unsigned char>(each);
    text += kept.find(each) != kept.npos ? std::string(1, each) : fmt::format("%{:02X}", byte);
  }
  return text;
}

/// The names of a program's files and functions may hold any bytes. Doubled braces are braces, and
/// "](" would make a link of a name.
std::string message_text(std::string_view text) {
  std::string safe = printable(text);
  for (const auto& [from, to] :
       {std::pair{"{", "{{"}, std::pair{"}", "}}"}, std::pair{"](", "] ("}}) {
    for (std::size_t at = safe.find(from); at != safe.npos;
         at = safe.find(from, at + std::string_view(to).size())) {
      safe.replace(at, std::string_view(from).size(), to);
    }
  }
  return safe;
}

ordered_json message(std::string_view text) {
  return {{"text", message_text(text)}};
}

fs::path current_folder() {
  std::error_code failed;
  return fs::current_path(failed); // empty if it fails
}

/// Relative to the current folder; nullopt for a file elsewhere.
std::optional<fs::path> in_folder(const std::string& file) {
  const fs::path path = fs::path(file).lexically_normal();
  const auto inside = [](const fs::path& relative) {
    return !relative.empty() && relative.is_relative() && *relative.begin() != "..";
  };
  if (path.is_relative()) {
    return inside(path) ? std::optional(path) : std::nullopt;
  }
  std::error_code failed;
  const fs::path real = fs::weakly_canonical(path, failed); // the compiler may have used a link
  for (const fs::path& each : {path, failed ? path : real}) {
    if (fs::path relative = each.lexically_relative(current_folder()); inside(relative)) {
      return relative;
    }
  }
  return std::nullopt;
}

ordered_json artifact_location(const std::string& file) {
  if (const auto relative = in_folder(file)) {
    return {{"uri", percent_encoded(relative->native())}, {"uriBaseId", base_of_paths}};
  }
  const fs::path path = fs::path(file).lexically_normal();
  return {{"uri", (path.is_absolute() ? "file://" : "") + percent_encoded(path.native())}};
}

/// A place in the source, and what is wrong there.
struct blamed {
  traffic::source where;
  std::string why;
};

ordered_json location(const blamed& what) {
  ordered_json physical = {{"artifactLocation", artifact_location(what.where.file)}};
  if (what.where.line > 0) {
    physical["region"] = {{"startLine", what.where.line}};
  }
  ordered_json made = {{"physicalLocation", std::move(physical)}};
  if (!what.where.function.empty()) {
    made["logicalLocations"] = {{{"name", printable(what.where.function)}, {"kind", "function"}}};
  }
  if (!what.why.empty()) {
    made["message"] = message(what.why);
  }
  return made;
}

std::string share_text(const locality& where) {
  const auto share = where.share();
  return share ? report::format_percent(*share) + " local" : "no traffic";
}

/// The bytes' lines that the memory moved for this site, in the phases of the check.
std::uint64_t moved_by(const traffic::named_site& site, node_id memory,
                       const traffic_limits& asked) {
  std::uint64_t lines = 0;
  for (const traffic::phase when : {traffic::phase::initialisation, traffic::phase::use}) {
    if (!asked.when || *asked.when == when) {
      for (const auto& [way, volume] : site.what.flows.at(traffic::index_of(when))) {
        lines += way.second == memory ? volume.moved() : 0;
      }
    }
  }
  return lines;
}

/// Whose data the busiest memory moves, most first.
std::vector<blamed> blamed_for_imbalance(const checked_traffic& what) {
  const auto loads = traffic::memory_loads(what.found.all, what.asked.when);
  const auto busiest = std::ranges::max_element(loads, {}, &traffic::memory_load::lines);
  if (busiest == loads.end()) {
    return {};
  }
  std::vector<std::pair<std::uint64_t, const traffic::named_site*>> sites;
  for (const traffic::named_site& site : what.found.sites) {
    if (const std::uint64_t lines = moved_by(site, busiest->node, what.asked); lines != 0) {
      sites.emplace_back(lines, &site);
    }
  }
  std::ranges::sort(sites, [](const auto& a, const auto& b) {
    return std::pair(b.first, std::string_view(a.second->name.label)) <
           std::pair(a.first, std::string_view(b.second->name.label));
  });
  std::vector<blamed> all;
  all.reserve(sites.size());
  for (const auto& [lines, site] : sites) {
    all.push_back({site->name, fmt::format("Allocates {}: the memory of node {} moved {} of it.",
                                           symbols::abbreviated(site->name.label), busiest->node,
                                           counted(lines, "cache line"))});
  }
  return all;
}

/// The places that explain a failed expectation, worst first.
std::vector<blamed> blamed_for(const traffic_verdict::finding& of, const checked_traffic& what) {
  if (of.of == expectation::balanced) {
    return blamed_for_imbalance(what);
  }
  const traffic::summary& worst = what.verdict.offending;
  std::vector<blamed> all;
  all.reserve(worst.lines.size());
  for (const traffic::source_line& line : worst.lines) { // none if objects are checked
    all.push_back(
        {line.name, fmt::format("Reads memory: {} in {}.",
                                share_text(line.fills.at(traffic::index_of(worst.judged))),
                                traffic::phase_name(worst.judged))});
  }
  const bool whole = of.of == expectation::local;
  for (const traffic::named_site& site : whole ? worst.sites : what.found.sites) {
    if (whole || site.answers_to(of.what)) {
      all.push_back(
          {site.name, fmt::format("Allocates {}: {} in {}.", symbols::abbreviated(site.name.label),
                                  share_text(site.what.where(worst.judged)),
                                  traffic::phase_name(worst.judged))});
    }
  }
  return all;
}

/// Those with a file. A file of the current folder comes first, because a review shows no others.
std::vector<blamed> places_to_show(std::vector<blamed> all) {
  std::erase_if(all, [](const blamed& each) { return each.where.file.empty(); });
  const auto ours = std::ranges::find_if(
      all, [](const blamed& each) { return in_folder(each.where.file).has_value(); });
  if (ours != all.end()) {
    std::rotate(all.begin(), ours, ours + 1);
  }
  all.resize(std::min(all.size(), most_related + 1));
  return all;
}

std::string failure_text(const traffic_verdict::finding& of, const traffic_limits& asked) {
  const bool balance = of.of == expectation::balanced;
  const std::string what = of.of == expectation::object_local ? "traffic of " + of.what : of.what;
  if (!of.found) {
    return fmt::format(
        "The {} {} was not judged: nothing was counted, or fewer than {} cache "
        "lines. {} {} is required.",
        what, when_text(asked), least_lines_to_judge, balance ? "At most" : "At least",
        balance ? fmt::format("{:.2f}", of.limit) : report::format_percent(of.limit) + " local");
  }
  if (balance) {
    return fmt::format("The busiest memory moved {:.2f} times the mean of all memories {}; at most "
                       "{:.2f} is allowed.",
                       *of.found, when_text(asked), of.limit);
  }
  return fmt::format("Of {} {}, {} of the cache lines were local; at least {} is required.",
                     of.of == expectation::local ? what : "the " + what, when_text(asked),
                     report::format_percent(*of.found), report::format_percent(of.limit));
}

ordered_json result(const traffic_verdict::finding& of, const checked_traffic& what) {
  const bool balance = of.of == expectation::balanced;
  std::vector<blamed> places = places_to_show(blamed_for(of, what));
  std::string text = failure_text(of, what.asked);
  if (!places.empty()) {
    text += fmt::format(" {}: {}", places.front().where.label, places.front().why);
  } else if (what.program.find('/') != std::string::npos) {
    places.push_back({{what.program, what.program}, ""}); // GitHub requires a place
  }
  ordered_json made = {{"ruleId", balance ? "memory-imbalance" : "low-local-share"},
                       {"ruleIndex", balance ? 1 : 0},
                       {"level", "error"},
                       {"message", message(text)}};
  if (!places.empty()) {
    made["locations"] = ordered_json::array({location(places.front())});
    ordered_json related = ordered_json::array();
    for (std::size_t i = 1; i < places.size(); ++i) {
      related.push_back(location(places[i]));
    }
    report::add_if_any(made, "relatedLocations", related);
  }
  made["properties"] = {{"what", printable(of.what)},
                        {"phase", what.asked.when ? traffic::to_string(*what.asked.when) : "all"},
                        {"found", report::or_unavailable(of.found)},
                        {balance ? "atMost" : "atLeast", of.limit}};
  return made;
}

ordered_json rule(std::string_view id, std::string_view name, std::string_view summary,
                  std::string_view description, std::string_view help) {
  return {{"id", id},
          {"name", name},
          {"shortDescription", {{"text", summary}}},
          {"fullDescription", {{"text", description}}},
          {"help", {{"text", help}, {"markdown", help}}},
          {"defaultConfiguration", {{"level", "error"}}},
          {"properties", {{"tags", {"performance", "numa"}}}}};
}

ordered_json rules() {
  return {rule("low-local-share", "LowLocalShare", "Too much memory traffic is remote.",
               "Fewer of the cache lines than required came from the memory of the node whose "
               "processor requested them. The others took the slower way to another node.",
               "Let the thread that uses a part of an array also write it first, or place the "
               "program by `nodewise run --memory blocked --bind close`. `nodewise profile` shows "
               "which threads use which array, and proposes a placement."),
          rule("memory-imbalance", "MemoryImbalance", "One memory moves much more than the others.",
               "The busiest memory moved more cache lines, compared with the mean of all memories, "
               "than allowed. Its bandwidth limits the program while other memories wait.",
               "Spread the data over the memories: initialise arrays in parallel, or place the "
               "program by `nodewise run --memory blocked` or `--memory interleave`.")};
}

} // namespace

std::string check_sarif(const checked_traffic& what) {
  ordered_json results = ordered_json::array();
  for (const traffic_verdict::finding& each : what.verdict.findings) {
    if (!each.passed) {
      results.push_back(result(each, what));
    }
  }
  ordered_json run = {{"tool",
                       {{"driver",
                         {{"name", "Nodewise"},
                          {"version", NODEWISE_VERSION},
                          {"semanticVersion", NODEWISE_VERSION},
                          {"rules", rules()}}}}},
                      {"invocations", {{{"executionSuccessful", true}}}}};
  if (const fs::path folder = current_folder(); !folder.empty()) {
    run["originalUriBaseIds"] = {
        {base_of_paths, {{"uri", "file://" + percent_encoded((folder / "").native())}}}};
  }
  run["results"] = std::move(results);
  return report::json_text({{"$schema", "https://json.schemastore.org/sarif-2.1.0.json"},
                            {"version", "2.1.0"},
                            {"runs", ordered_json::array({std::move(run)})}});
}

} // namespace nodewise::cli
