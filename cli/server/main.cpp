// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// nodewise-serve: shows the page on its standard input to a browser, for `nodewise report --serve`.
// It is an executable of its own because the HTTP library brings OpenSSL, and loading it would make
// every start of nodewise-tool take 11 ms instead of 6 ms (measured).
#include <span>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/server/page_server.hpp"
#include "sys/signals.hpp"
#include "topology/json_field.hpp"
#include "topology/measured_machine.hpp"

namespace nodewise::cli {

namespace {

void print_address(const std::string& address, int port) {
  const report::style how = style_of(STDOUT_FILENO, {});
  const auto shown = [&](const std::string& what) {
    return report::paint(how, report::tone::accent, what);
  };
  const std::string tunnel =
      fmt::format("ssh -L {0}:127.0.0.1:{0} {1}", port, measured::host_name());
  write_out(fmt::format("The report is at {}\n"
                        "To see it from another computer, first run there: {}\n"
                        "Ctrl-C ends it.\n",
                        shown(address), shown(tunnel)));
}

int serve(std::span<const char* const> arguments) {
  constexpr int highest_port = 65535;
  const auto port =
      arguments.size() == 1 ? parse_number<int>(arguments.front()) : std::optional<int>();
  if (!port || *port < 0 || *port > highest_port) {
    throw error(error_kind::usage, "nodewise-serve", "it takes a port, and a page as its input",
                "write nodewise report FILE.json --serve");
  }
  constexpr std::size_t largest = std::size_t{1} << 30;
  serve_page(read_whole("/proc/self/fd/0", "--serve: the page", largest), *port, print_address);
  return exit_code::ok;
}

} // namespace

} // namespace nodewise::cli

int main(int argc, char** argv) {
  nodewise::sys::ignore_broken_pipes();
  const auto words = static_cast<std::size_t>(argc > 0 ? argc - 1 : 0);
  const std::span<const char* const> arguments{argv + (argc > 0 ? 1 : 0), words};
  return nodewise::cli::guard({}, [&] { return nodewise::cli::serve(arguments); });
}
