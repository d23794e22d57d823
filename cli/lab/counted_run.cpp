// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/lab/counted_run.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <deque>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include <nodewise/version.hpp>

#include "cli/frame/result.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/lab/runner.hpp"
#include "cli/prediction/predicted.hpp"
#include "cli/start/flags.hpp"
#include "cli/traffic/view.hpp"
#include "report/envelope.hpp"

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

/// Standard input restarts at `input_begin` if it is a file; otherwise it is empty.
void discard_output(off_t input_begin) {
  const int nothing = ::open("/dev/null", O_RDWR);
  if (input_begin < 0 || ::lseek(STDIN_FILENO, input_begin, SEEK_SET) < 0) {
    ::dup2(nothing, STDIN_FILENO);
  }
  ::dup2(nothing, STDOUT_FILENO);
  ::dup2(nothing, STDERR_FILENO);
  ::close(nothing);
}

/// What --on-counts writes: a result, or those of the hosts of a cluster.
std::string counts_json(std::span<const nlohmann::ordered_json> of_hosts) {
  return report::json_text(of_hosts.size() == 1 ? of_hosts.front()
                                                : cluster_traffic_json(of_hosts));
}

/// Shows the traffic of a host, and returns it as JSON.
nlohmann::ordered_json report_host(const counted_run& run, std::size_t host,
                                   std::span<const topology> hosts, const invocation& given) {
  const machine& on = hosts[host].machine();
  const traffic::summary found = traffic::summarise(run.read(host));
  if (!given.has(flags::quiet)) {
    const report::style how = style_of(STDERR_FILENO, given);
    const std::string heading = hosts.size() == 1
                                    ? ""
                                    : report::paint(how, report::tone::strong,
                                                    fmt::format("{}{}, {}", host == 0 ? "" : "\n",
                                                                cluster_host(host), on.name)) +
                                          "\n";
    write_error(
        heading +
        traffic_text(found, how, predicted_text(predict_parts(found.all, found.judged, on), how)));
  }
  return traffic_json(found, on, guest_settings(given, found.all));
}

} // namespace

bool counted_run::lab_failed() const noexcept {
  const int code = end.exit_code();
  const bool of_runner = code >= exit_code::time_limit && code <= exit_code::not_found;
  // From the command inside, which rejected its arguments before any program started.
  const bool of_launcher = code >= exit_code::usage && code <= exit_code::refused;
  return counts.front().empty() && (of_runner || of_launcher);
}

traffic::counts counted_run::read(std::size_t host) const {
  traffic::counts found = traffic::read_counts(counts.at(host));
  if (found.refused) {
    throw error(error_kind::input, "the traffic count",
                "the counter's own test failed: " + *found.refused,
                "run it again; `nodewise run --on-no-count` runs it without counting");
  }
  return found;
}

counted_run run_counted(const paths& from, std::vector<std::string> arguments,
                        std::optional<off_t> silent_from) {
  const auto own_end = std::ranges::find(arguments, "--");
  const auto others = std::count(arguments.begin(), own_end, "--host");
  const std::deque<inherited_file> files(static_cast<std::size_t>(others) + 1);
  std::vector<std::string> counting = {"--count-when-told"};
  for (const inherited_file& file : files) {
    counting.insert(counting.end(), {"--count", file.name()});
  }
  arguments.insert(own_end, counting.begin(), counting.end());
  counted_run run;
  run.end = sys::run_child([&] {
    if (silent_from) {
      discard_output(*silent_from);
    }
    start_runner(from, std::move(arguments));
  });
  for (const inherited_file& file : files) {
    run.counts.push_back(file.read());
  }
  return run;
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

std::string cluster_host(std::size_t host) {
  return fmt::format("host{}", host + 1);
}

nlohmann::ordered_json cluster_traffic_json(std::span<const nlohmann::ordered_json> of_hosts) {
  nlohmann::ordered_json made = {{"schema", "nodewise/cluster-traffic/1"},
                                 {"nodewise", NODEWISE_VERSION},
                                 {"hosts", nlohmann::ordered_json::array()}};
  for (std::size_t host = 0; host < of_hosts.size(); ++host) {
    made["hosts"].push_back({{"host", cluster_host(host)}, {"traffic", of_hosts[host]}});
  }
  return made;
}

int report_traffic(const counted_run& run, std::span<const topology> hosts,
                   const invocation& given) {
  if (run.lab_failed()) {
    return exit_code::ok; // the run ends with the runner's status, not this one
  }
  const auto where = given.text(flags::on_counts);
  try {
    std::vector<nlohmann::ordered_json> results;
    for (std::size_t host = 0; host < hosts.size(); ++host) {
      results.push_back(report_host(run, host, hosts, given));
    }
    if (where) {
      const std::string text = counts_json(results);
      *where == to_standard_output ? write_out(text)
                                   : write_to_file(flags::on_counts, *where, text);
    }
  } catch (const error& e) {
    write_error(report::error_text(e, style_of(STDERR_FILENO, given)));
    return where ? exit_code_of(e.kind()) : exit_code::ok;
  }
  return exit_code::ok;
}

} // namespace nodewise::cli
