// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdlib>

#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "cli/frame/paths.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/report/flags.hpp"
#include "cli/verbs/report/kinds.hpp"
#include "cli/verbs/report/serve.hpp"
#include "sys/programs.hpp"

namespace nodewise::cli {

namespace {

constexpr std::string_view standard_name = "report.html";

/// The bundle of report/, if it was built and installed.
html::script installed_script() {
  const std::string folder = paths::of_this_process().report();
  const auto part = [&](std::string_view name) {
    constexpr std::size_t largest = std::size_t{4} << 20;
    const std::string file = fmt::format("{}/{}", folder, name);
    return ::access(file.c_str(), R_OK) == 0 ? read_whole(file, file, largest) : std::string();
  };
  html::script made{part("report.js"), part("report.js.sha256"), part("report.css")};
  while (made.hash.ends_with('\n')) {
    made.hash.pop_back();
  }
  return made.text.empty() || made.hash.empty() ? html::script{} : made;
}

report_page page_of(const std::vector<std::string>& files) {
  report_page made;
  made.shown.title = "Nodewise: " + joined(files, ", ");
  std::vector<nlohmann::ordered_json> documents;
  for (const std::string& each : files) {
    documents.push_back(read_json_file(each));
  }
  std::vector<result_file> results;
  for (std::size_t i = 0; i < files.size(); ++i) {
    results.push_back({files[i], json_field(documents[i], "the result " + files[i])});
  }
  add_results(results, made);
  return made;
}

/// Whether a browser took it. Otherwise the child process has reported why.
bool show_in_browser(const std::string& file) {
  const char* const chosen = std::getenv("BROWSER");
  const std::string browser = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open";
  const sys::child_end end = sys::run_child([&] {
    const int failed = sys::execute({browser, file});
    throw error(
        error_kind::system, fmt::format("--open: {} {}", browser, printable(file)),
        "the browser cannot be started",
        fmt::format("the page is written: open {} yourself, or set BROWSER", printable(file)),
        failed);
  });
  return end.exit_code() == 0;
}

void write_picture(const report_page& of, const invocation& given) {
  const std::string_view name = *given.text(flags::page_figure);
  const auto found =
      std::ranges::find(of.pictures, name, [](const auto& each) { return each.first; });
  if (found == of.pictures.end()) {
    throw error(error_kind::usage, fmt::format("{} {}", option_name(flags::page_figure), name),
                "the page has no such picture",
                "choose one of: " +
                    joined(of.pictures, ", ", [](const auto& each) { return each.first; }));
  }
  deliver(drawing::file_of(found->second), given.has(flags::picture) ? flags::picture : flags::svg,
          given);
}

std::string page_text(report_page of) {
  of.shown.interaction = installed_script();
  of.shown.data = of.data->dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return html::text_of(of.shown);
}

void report_missing_script() {
  if (installed_script().text.empty()) {
    write_error("nodewise: the page has no search, sorting or zoom: this build lacks the script; "
                "`make report-bundle` makes it (needs npm)\n");
  }
}

int write_page(const std::string& page, std::string_view name, const invocation& given) {
  write_to_file(flags::output, name, page);
  const std::string file = output_file(name);
  if (!given.has(flags::quiet)) {
    write_out(fmt::format("The report is in {}.\n", printable(file)));
    report_missing_script();
  }
  const bool shown = !given.has(flags::open_page) || show_in_browser(file);
  return shown ? exit_code::ok : exit_code::refused;
}

} // namespace

namespace verbs {

int report(const invocation& given) {
  if (given.operands.empty()) {
    throw error(error_kind::usage, "nodewise report", "no result is named",
                "name a file that a verb wrote with -o, such as `nodewise profile -o run.json -- "
                "./solver`");
  }
  const std::string_view name = given.text(flags::output).value_or(standard_name);
  const bool only_picture = given.has(flags::page_figure);
  if (given.has(flags::picture) && !only_picture) {
    throw error(error_kind::usage, option_name(flags::picture), "a page has several pictures",
                "name one by --figure NAME; a wrong NAME lists all");
  }
  const bool serves = given.has(flags::serve_page);
  constexpr int highest_port = 65535;
  const auto port = given.number(flags::serve_page, 1, highest_port);
  if (!serves && (!only_picture || given.has(flags::output))) {
    check_file(flags::output, name);
  }
  report_page page = page_of(given.operands);
  if (only_picture) {
    write_picture(page, given);
    return exit_code::ok;
  }
  const std::string text = page_text(std::move(page));
  if (serves) {
    report_missing_script();
    serve(text, static_cast<int>(port.value_or(0)));
  }
  return write_page(text, name, given);
}

} // namespace verbs

} // namespace nodewise::cli
