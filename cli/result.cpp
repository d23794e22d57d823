// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/local_rank.hpp"
#include "cli/terminal.hpp"
#include "doctor/settings.hpp"
#include "report/envelope.hpp"
#include "report/output_name.hpp"

namespace nodewise::cli {

namespace {

/// What is no regular file (/dev/stdout, a pipe) is written to as it is; a file is replaced.
bool is_replaceable(const std::string& name) {
  struct stat facts{};
  return ::lstat(name.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

int write_file(const std::string& name, std::string_view text) {
  std::FILE* const file = std::fopen(name.c_str(), "we");
  if (file == nullptr) {
    return errno;
  }
  const bool written = std::fwrite(text.data(), 1, text.size(), file) == text.size();
  const int failed = written ? 0 : errno;
  return std::fclose(file) == 0 ? failed : (failed != 0 ? failed : errno);
}

/// Where the result goes.
struct output_file {
  explicit output_file(std::string_view pattern)
      : name(report::output_name(pattern, report::output_facts::of_this_process())),
        replaceable(is_replaceable(name)) {}

  std::string name;
  bool replaceable;
};

} // namespace

int replace_file(const std::string& name, std::string_view text) {
  const std::string unfinished = name + ".unfinished-" + std::to_string(::getpid());
  int failed = write_file(unfinished, text);
  if (failed == 0 && std::rename(unfinished.c_str(), name.c_str()) != 0) {
    failed = errno;
  }
  if (failed != 0) {
    ::unlink(unfinished.c_str());
  }
  return failed;
}

nlohmann::ordered_json settings_json(sys::kernel& of) {
  using report::or_unavailable;
  const doctor::settings found = doctor::read_settings(of);
  // A mode, not a quantity: the kernel's word for it.
  const auto balancing =
      found.numa_balancing ? std::optional(std::to_string(*found.numa_balancing)) : std::nullopt;
  return {{"kernel", or_unavailable(found.kernel_release)},
          {"page_bytes", or_unavailable(found.page_bytes)},
          {"numa_balancing", or_unavailable(balancing)},
          {"thp", or_unavailable(found.thp)},
          {"thp_defrag", or_unavailable(found.thp_defrag)},
          {"virtual", or_unavailable(found.virtualisation)}};
}

void write_result(const nlohmann::ordered_json& result, const invocation& given) {
  write_result_text(report::json_text(result), given);
}

void check_output(const invocation& given) {
  if (const auto pattern = given.text(flags::output)) {
    check_file(flags::output, *pattern);
  }
}

void write_result_text(std::string_view text, const invocation& given) {
  if (const auto pattern = given.text(flags::output)) {
    write_to_file(flags::output, *pattern, text);
  } else {
    write_out(text);
  }
}

void check_file(const flag& which, std::string_view pattern) {
  const output_file file(pattern);
  const auto rank =
      find_local_rank([](const char* variable) -> const char* { return std::getenv(variable); });
  if (rank && rank->count.value_or(1) > 1 && file.replaceable &&
      pattern.find("%r") == std::string_view::npos &&
      pattern.find("%p") == std::string_view::npos) {
    throw error(error_kind::usage, option_name(which) + " " + std::string(pattern),
                "the " + std::to_string(*rank->count) + " ranks of this host would write one file",
                "put %r (the local rank) into the name: run-%r.json");
  }
  const std::size_t slash = file.name.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.name.substr(0, slash + 1);
  if (::access(file.replaceable ? folder.c_str() : file.name.c_str(), W_OK) != 0) {
    throw error(error_kind::system, option_name(which) + ": the file '" + file.name + "'",
                "it cannot be written",
                "check that the directory exists and that it can be written to", errno);
  }
}

void write_to_file(const flag& which, std::string_view pattern, std::string_view text) {
  const output_file file(pattern);
  const int failed = file.replaceable ? replace_file(file.name, text) : write_file(file.name, text);
  if (failed != 0) {
    throw error(error_kind::system, option_name(which) + ": the file '" + file.name + "'",
                "it was not written",
                "check that the directory exists and that it can be written to", failed);
  }
}

} // namespace nodewise::cli
