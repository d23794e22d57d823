// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/serve.hpp"

#include <cerrno>

#include <unistd.h>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "cli/frame/memory_file.hpp"
#include "cli/frame/paths.hpp"
#include "sys/programs.hpp"

namespace nodewise::cli {

void serve(std::string_view page, int port) {
  const std::string server = paths::of_this_process().server();
  const sys::descriptor input = memory_file(page);
  const int failed = ::dup2(input.number(), STDIN_FILENO) < 0
                         ? errno
                         : sys::execute({server, fmt::format("{}", port)});
  throw error(error_kind::system, fmt::format("--serve: {}", server), "it was not started",
              "install nodewise completely, or write the page to a file by -o", failed);
}

} // namespace nodewise::cli
