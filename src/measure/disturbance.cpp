// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "measure/disturbance.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <utility>

#include <fmt/core.h>

#include "base/numbers.hpp"
#include "base/text.hpp"

namespace nodewise::measure {

namespace {

std::string_view next_word(std::string_view& text) {
  text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
  const std::string_view word = text.substr(0, text.find(' '));
  text.remove_prefix(word.size());
  return word;
}

/// "cpu3 user nice system idle iowait irq softirq steal ...".
enum column { user, nice, system_time, idle, iowait, irq, softirq, steal, columns };

std::optional<std::pair<int, std::array<double, columns>>> parse_line(std::string_view line) {
  const std::string_view name = next_word(line);
  const auto id = name.starts_with("cpu") ? parse_number<int>(name.substr(3)) : std::nullopt;
  std::array<double, columns> times{};
  for (double& each : times) {
    const auto value = parse_number<std::uint64_t>(next_word(line));
    if (!value) {
      return std::nullopt;
    }
    each = static_cast<double>(*value);
  }
  return id ? std::optional(std::pair(*id, times)) : std::nullopt;
}

} // namespace

std::optional<processor_ticks> parse_ticks(std::string_view proc_stat, const cpu_set& of) {
  processor_ticks sum;
  bool any = false;
  for (const std::string_view line : split(proc_stat, '\n')) {
    const auto found = parse_line(line);
    if (!found || !of.contains(cpu_id{found->first})) {
      continue;
    }
    const auto& times = found->second;
    any = true;
    sum.busy += times[user] + times[nice] + times[system_time] + times[irq] + times[softirq];
    sum.stolen += times[steal];
    sum.all += std::accumulate(times.begin(), times.end(), 0.0);
  }
  return any ? std::optional(sum) : std::nullopt;
}

std::optional<double> parse_own_ticks(std::string_view proc_self_stat) {
  // The name in parentheses may hold blanks and parentheses: count the fields after its end.
  const std::size_t end = proc_self_stat.rfind(')');
  if (end == std::string_view::npos) {
    return std::nullopt;
  }
  std::string_view rest = proc_self_stat.substr(end + 1);
  constexpr int fields_before_utime = 11; // man proc: state is field 3, utime 14, stime 15
  for (int i = 0; i < fields_before_utime; ++i) {
    (void)next_word(rest);
  }
  const auto in_user = parse_number<std::uint64_t>(next_word(rest));
  const auto in_kernel = parse_number<std::uint64_t>(next_word(rest));
  return in_user && in_kernel ? std::optional(static_cast<double>(*in_user + *in_kernel))
                              : std::nullopt;
}

watched_time& watched_time::operator+=(const watched_time& more) noexcept {
  all += more.all;
  stolen += more.stolen;
  others += more.others;
  all_elsewhere += more.all_elsewhere;
  busy_elsewhere += more.busy_elsewhere;
  return *this;
}

std::optional<disturbance> watched_time::shares() const noexcept {
  if (all <= 0) {
    return std::nullopt;
  }
  // Rounding may give this process a little more than the total: others then had none.
  return disturbance{.stolen = std::max(stolen / all, 0.0),
                     .others = std::max(others / all, 0.0),
                     .elsewhere =
                         all_elsewhere > 0 ? std::max(busy_elsewhere / all_elsewhere, 0.0) : 0};
}

std::optional<double> frequency_mhz(sys::kernel& from, cpu_id cpu) {
  const std::string path =
      fmt::format("/sys/devices/system/cpu/cpu{}/cpufreq/scaling_cur_freq", cpu);
  const auto text = from.read_file(path.c_str());
  const auto khz = text ? parse_number<std::uint64_t>(text.value) : std::nullopt;
  return khz ? std::optional(static_cast<double>(*khz) / 1000) : std::nullopt;
}

watch::watch(sys::kernel& from, const topology& on, cpu_set cpus)
    : from_(&from), used_(std::move(cpus)) {
  for (const core& each : on.machine().cores) {
    if (!(each.cpus & used_).empty()) {
      beside_ = beside_ | (each.cpus - used_);
    }
  }
  elsewhere_ = on.machine().cpus() - used_ - beside_;
  start_ = now();
}

std::optional<watched_time> watch::now() const {
  const auto stat = from_->read_file("/proc/stat");
  const auto own_stat = from_->read_file("/proc/self/stat");
  const auto used = stat ? parse_ticks(stat.value, used_) : std::nullopt;
  const auto own = own_stat ? parse_own_ticks(own_stat.value) : std::nullopt;
  if (!used || !own) {
    return std::nullopt;
  }
  const auto beside = parse_ticks(stat.value, beside_).value_or(processor_ticks{});
  const auto elsewhere = parse_ticks(stat.value, elsewhere_).value_or(processor_ticks{});
  return watched_time{.all = used->all,
                      .stolen = used->stolen,
                      .others = used->busy - *own + beside.busy,
                      .all_elsewhere = elsewhere.all,
                      .busy_elsewhere = elsewhere.busy};
}

watched_time watch::so_far() const {
  const auto after = now();
  if (!start_ || !after) {
    return {};
  }
  return {.all = after->all - start_->all,
          .stolen = after->stolen - start_->stolen,
          .others = after->others - start_->others,
          .all_elsewhere = after->all_elsewhere - start_->all_elsewhere,
          .busy_elsewhere = after->busy_elsewhere - start_->busy_elsewhere};
}

} // namespace nodewise::measure
