// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/lab/count.hpp"

#include <algorithm>
#include <array>
#include <cerrno>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "cli/frame/exit_codes.hpp"
#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/lab/runner.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/traffic/view.hpp"
#include "report/envelope.hpp"
#include "report/error_text.hpp"
#include "traffic/summary.hpp"

namespace nodewise::cli {

namespace {

constexpr std::string_view to_standard_output = "-";

/// An unnamed file that the runner inherits and writes through its descriptor number.
class inherited_file {
 public:
  inherited_file() : descriptor_(::memfd_create("counts", 0)) {
    if (descriptor_ < 0) {
      throw error(error_kind::system, "cannot create a file for the traffic count", "",
                  "check the limits of memory and of open files", errno);
    }
  }
  inherited_file(const inherited_file&) = delete;
  inherited_file& operator=(const inherited_file&) = delete;
  ~inherited_file() { ::close(descriptor_); }

  [[nodiscard]] std::string name() const { return fmt::format("/proc/self/fd/{}", descriptor_); }
  [[nodiscard]] std::string read() const {
    std::string text;
    std::array<char, 1 << 16> part{};
    for (;;) {
      const ssize_t got =
          ::pread(descriptor_, part.data(), part.size(), static_cast<off_t>(text.size()));
      if (got < 0 && errno == EINTR) {
        continue;
      }
      if (got <= 0) { // a partial file is later detected as cut off
        return text;
      }
      text.append(part.data(), static_cast<std::size_t>(got));
    }
  }

 private:
  int descriptor_;
};

void write_counts(const nlohmann::ordered_json& result, std::string_view where) {
  if (where == to_standard_output) {
    write_out(report::json_text(result));
  } else {
    write_to_file(flags::on_counts, where, report::json_text(result));
  }
}

template <class Prepare>
counted_run run_counted_after(const paths& from, std::vector<std::string> arguments,
                              Prepare prepare) {
  const inherited_file file;
  const auto separator = std::ranges::find(arguments, "--");
  arguments.insert(separator, {"--count", file.name(), "--count-when-told"});
  counted_run run;
  run.end = launch::run_child([&] {
    prepare();
    start_runner(from, std::move(arguments));
  });
  run.counts = file.read();
  return run;
}

} // namespace

bool counted_run::lab_failed() const noexcept {
  const int code = end.exit_code();
  const bool of_runner = code >= exit_code::time_limit && code <= exit_code::not_found;
  // From the command inside, which rejected its arguments before any program started.
  const bool of_launcher = code >= exit_code::usage && code <= exit_code::refused;
  return counts.empty() && (of_runner || of_launcher);
}

traffic::counts counted_run::read() const {
  traffic::counts found = traffic::read_counts(counts);
  if (found.refused) {
    throw error(error_kind::input, "the traffic count",
                "the counter's own test failed: " + *found.refused,
                "run it again; `nodewise run --on-no-count` runs it without counting");
  }
  return found;
}

counted_run run_counted(const paths& from, std::vector<std::string> arguments) {
  return run_counted_after(from, std::move(arguments), [] {});
}

counted_run run_counted(const paths& from, std::vector<std::string> arguments, off_t input_begin) {
  return run_counted_after(from, std::move(arguments), [&] {
    const int nothing = ::open("/dev/null", O_RDWR);
    if (input_begin < 0 || ::lseek(STDIN_FILENO, input_begin, SEEK_SET) < 0) {
      ::dup2(nothing, STDIN_FILENO);
    }
    ::dup2(nothing, STDOUT_FILENO);
    ::dup2(nothing, STDERR_FILENO);
    ::close(nothing);
  });
}

nlohmann::ordered_json guest_settings(const invocation& given, const traffic::counts& of) {
  // The defaults are those of the runner: lab/nodewise_lab/cli.py.
  return {{"kernel", "unavailable"},
          {"page_bytes", of.page_bytes},
          {"numa_balancing", given.text(flags::on_numa_balancing).value_or("0")},
          {"thp", given.text(flags::on_thp).value_or("madvise")},
          {"thp_defrag", "unavailable"},
          {"virtual", "QEMU"}};
}

void check_traffic_output(const invocation& given) {
  const auto where = given.text(flags::on_counts);
  if (where && *where != to_standard_output) {
    check_file(flags::on_counts, *where);
  }
}

int report_traffic(const counted_run& run, const machine& on, const invocation& given) {
  if (run.lab_failed()) {
    return exit_code::ok; // the run ends with the runner's status, not this one
  }
  const auto where = given.text(flags::on_counts);
  try {
    const traffic::summary found = traffic::summarise(run.read());
    if (!given.has(flags::quiet)) {
      const report::style how = style_of(STDERR_FILENO, given);
      write_error(traffic_text(found, how,
                               predicted_text(predict_parts(found.all, found.judged, on), how)));
    }
    if (where) {
      write_counts(traffic_json(found, on, guest_settings(given, found.all)), *where);
    }
  } catch (const error& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
    return where ? exit_code_of(e.kind()) : exit_code::ok;
  }
  return exit_code::ok;
}

} // namespace nodewise::cli
