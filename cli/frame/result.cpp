// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/result.hpp"

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <random>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "cli/frame/png.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/frame/terminal_picture.hpp"
#include "doctor/settings.hpp"
#include "report/envelope.hpp"
#include "report/output_name.hpp"

namespace nodewise::cli {

namespace {

/// A regular file is replaced; anything else (/dev/stdout, a pipe) is written to directly.
bool is_replaceable(const std::string& name) {
  struct stat facts{};
  return ::lstat(name.c_str(), &facts) != 0 || S_ISREG(facts.st_mode);
}

/// Writes the text and closes the file. Returns 0 or errno.
int write_and_close(int file, std::string_view text) {
  const int failed = write_all(file, text);
  return ::close(file) == 0 || failed != 0 ? failed : errno;
}

constexpr mode_t for_all = 0666; // minus the umask

/// The forms that the end of a file's name chooses.
constexpr std::array forms_by_name = {std::pair{&flags::svg, std::string_view(".svg")},
                                      std::pair{&flags::svg, std::string_view(".png")},
                                      std::pair{&flags::sarif, std::string_view(".sarif")},
                                      std::pair{&flags::openmetrics, std::string_view(".prom")}};

int write_file(const std::string& name, std::string_view text) {
  const int file = ::open(name.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, for_all);
  return file < 0 ? errno : write_and_close(file, text);
}

/// Opens a new file beside `name` with an unpredictable name: in a world-writable directory, a
/// prepared link of that name would lead elsewhere. mkostemp(3) would not apply the umask.
int open_beside(const std::string& name, std::string& unfinished) {
  constexpr int most_attempts = 100;
  std::random_device random;
  int file = -1;
  for (int attempt = 0; file < 0 && attempt < most_attempts; ++attempt) {
    const std::uint64_t number = std::uint64_t{random()} << 32 | random();
    unfinished = fmt::format("{}.unfinished-{}", name, number);
    file =
        ::open(unfinished.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, for_all);
    if (file < 0 && errno != EEXIST) {
      break;
    }
  }
  return file;
}

[[noreturn]] void refuse_file(const flag& which, const std::string& file, int errno_value) {
  throw error(error_kind::system, fmt::format("--{}: the file '{}'", which.name, file),
              "it cannot be written", "check that the directory exists and is writable",
              errno_value);
}

} // namespace

std::string output_file(std::string_view pattern) {
  return report::output_name(pattern, report::output_facts::of_this_process());
}

int replace_file(const std::string& name, std::string_view text) {
  std::string unfinished;
  const int file = open_beside(name, unfinished);
  if (file < 0) {
    return errno;
  }
  int failed = write_and_close(file, text);
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
  // A mode, not a quantity: kept as the kernel's text.
  const auto balancing =
      found.numa_balancing ? std::optional(std::to_string(*found.numa_balancing)) : std::nullopt;
  return {{"kernel", or_unavailable(found.kernel_release)},
          {"page_bytes", or_unavailable(found.page_bytes)},
          {"numa_balancing", or_unavailable(balancing)},
          {"thp", or_unavailable(found.thp)},
          {"thp_defrag", or_unavailable(found.thp_defrag)},
          {"virtual", or_unavailable(found.virtualisation)}};
}

const flag* form_to_write(const invocation& given) {
  const flag* const selected = given.selected_form();
  const auto file = given.text(flags::output);
  if (selected != nullptr || !file) {
    return selected;
  }
  for (const auto& [form, ending] : forms_by_name) {
    const bool has_it = std::ranges::find(given.verb->flags, form) != given.verb->flags.end();
    if (has_it && file->ends_with(ending)) {
      return form;
    }
  }
  return &flags::json;
}

bool asks_for_text(const invocation& given) {
  return given.selected_form() == nullptr && !given.has(flags::quiet);
}

void refuse_form(const flag& by) {
  throw error(error_kind::usage, option_name(by), "this result does not have that form",
              "leave the option out");
}

std::string json_of(const json_maker& make) {
  return report::json_text(make());
}

std::string report_line(const invocation& given, const report::style& how) {
  const auto pattern = given.text(flags::output);
  return pattern && given.verb->has_page && how.terminal && form_to_write(given) == &flags::json
             ? fmt::format("\nSee it in a browser: {}\n",
                           report::paint(how, report::tone::accent,
                                         "nodewise report " + shell_word(output_file(*pattern))))
             : "";
}

void show_text(const invocation& given, const text_maker& as_text) {
  if (asks_for_text(given)) {
    const report::style how = style_of(STDOUT_FILENO, given);
    write_out(as_text(how) + report_line(given, how));
  }
}

void check_output(const invocation& given) {
  if (given.has(flags::picture)) {
    check_picture_terminal(given);
  }
  if (const auto pattern = given.text(flags::output)) {
    check_file(flags::output, *pattern);
  }
}

void refuse_terminal(const invocation& given) {
  const flag* const form = given.selected_form();
  if (form != nullptr && form->is_binary && ::isatty(STDOUT_FILENO) == 1) {
    throw error(error_kind::usage, option_name(*form) + " on a terminal", "this format is not text",
                fmt::format("write it to a file: nodewise {} ... {} > FILE", given.verb->name,
                            option_name(*form)));
  }
}

void write_result(std::string_view text, const invocation& given) {
  if (const auto pattern = given.text(flags::output)) {
    write_to_file(flags::output, *pattern, text);
  } else {
    write_out(text);
  }
}

void deliver(std::string result, const flag& by, const invocation& given) {
  if (&by == &flags::picture) {
    draw_picture(std::move(result), given);
  } else {
    write_result(&by == &flags::svg ? svg_or_png(std::move(result), given) : result, given);
  }
}

void check_file(const flag& which, std::string_view pattern) {
  const std::string file = output_file(pattern);
  const bool replaceable = is_replaceable(file);
  const auto rank = find_local_rank(process_environment);
  if (rank && rank->count.value_or(1) > 1 && replaceable &&
      pattern.find("%r") == std::string_view::npos &&
      pattern.find("%p") == std::string_view::npos) {
    throw error(error_kind::usage, fmt::format("--{} {}", which.name, pattern),
                fmt::format("the {} ranks of this host would write the same file", *rank->count),
                "put %r (the local rank) into the name: run-%r.json");
  }
  const std::size_t slash = file.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : file.substr(0, slash + 1);
  if (::access(replaceable ? folder.c_str() : file.c_str(), W_OK) != 0) {
    refuse_file(which, file, errno);
  }
}

void write_to_file(const flag& which, std::string_view pattern, std::string_view text) {
  const std::string file = output_file(pattern);
  const int failed = is_replaceable(file) ? replace_file(file, text) : write_file(file, text);
  if (failed != 0) {
    refuse_file(which, file, failed);
  }
}

} // namespace nodewise::cli
