// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cerrno>
#include <cstdlib>

#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <fmt/core.h>

#include "base/text.hpp"
#include "cli/frame/paths.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/verbs.hpp"
#include "cli/verbs/report/flags.hpp"
#include "cli/verbs/report/kinds.hpp"

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

html::page page_of(const std::vector<std::string>& files) {
  report_page made;
  made.shown.title = "Nodewise: " + joined(files, ", ");
  for (std::size_t i = 0; i < files.size(); ++i) {
    made.suffix = i == 0 ? "" : fmt::format("-{}", i + 1);
    const nlohmann::ordered_json document = read_json_file(files[i]);
    add_result(json_field(document, "the result " + files[i]), files[i], made);
  }
  made.shown.interaction = installed_script();
  made.shown.data = nlohmann::ordered_json{
      {"schema", "nodewise/report-data/1"},
      {"tables", made.tables},
      {"charts", made.charts},
      {"strips",
       made.strips}}.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
  return std::move(made.shown);
}

/// Throws `error` (system) if there is no browser.
void show_in_browser(const std::string& file) {
  const char* const chosen = std::getenv("BROWSER");
  std::string browser = chosen != nullptr && *chosen != '\0' ? chosen : "xdg-open";
  std::string name = file;
  std::array<char*, 3> words = {browser.data(), name.data(), nullptr};
  pid_t child = 0;
  const int failed =
      ::posix_spawnp(&child, browser.c_str(), nullptr, nullptr, words.data(), environ);
  int status = 0;
  if (failed == 0) {
    ::waitpid(child, &status, 0);
  }
  if (failed != 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127)) {
    throw error(error_kind::system, fmt::format("--open: {} {}", browser, file),
                "the browser cannot be started",
                fmt::format("the page is written: open {} yourself, or set BROWSER", file),
                failed != 0 ? failed : ENOENT);
  }
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
  check_file(flags::output, name);
  const html::page page = page_of(given.operands);
  write_to_file(flags::output, name, html::text_of(page));
  if (!given.has(flags::quiet)) {
    write_out(fmt::format("The report is in {}.\n", printable(name)));
    if (page.interaction.text.empty()) {
      write_error("nodewise: the page has no search, sorting or zoom: this build lacks the script; "
                  "`make report-bundle` makes it (needs npm)\n");
    }
  }
  if (given.has(flags::open_page)) {
    show_in_browser(std::string(name));
  }
  return exit_code::ok;
}

} // namespace verbs

} // namespace nodewise::cli
