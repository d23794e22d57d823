// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "report/progress.hpp"

#include <algorithm>
#include <cstdio>
#include <utility>

#include <unistd.h>

#include <fmt/core.h>

#include "report/bar.hpp"

namespace nodewise::report {

namespace {

using namespace std::chrono_literals;

constexpr auto redraw_time = 100ms;
constexpr std::string_view erase_line = "\r\x1b[K";

progress::surroundings standard_error() {
  return {style::for_stream(STDERR_FILENO), [] { return progress::clock::now(); },
          [](std::string_view text) {
            std::fwrite(text.data(), 1, text.size(), stderr);
            std::fflush(stderr);
          }};
}

} // namespace

std::string format_duration(std::chrono::nanoseconds time) {
  const auto seconds = std::chrono::duration_cast<std::chrono::seconds>(time).count();
  if (seconds < 60) {
    return fmt::format("{} s", seconds);
  }
  if (seconds < 3600) {
    return fmt::format("{} min {} s", seconds / 60, seconds % 60);
  }
  return fmt::format("{} h {} min", seconds / 3600, seconds / 60 % 60);
}

progress::progress(std::string what, std::uint64_t total)
    : progress(std::move(what), total, standard_error()) {}

progress::progress(std::string what, std::uint64_t total, surroundings around)
    : what_(std::move(what)), total_(total), around_(std::move(around)), start_(around_.now()),
      next_(start_ + quiet_time) {}

progress::~progress() {
  if (!drawn_) {
    return;
  }
  try {
    around_.write(erase_line);
  } catch (...) {
    drawn_ = false; // a line left on the terminal must not end the program
  }
}

void progress::done(std::uint64_t amount) {
  const clock::time_point now = around_.now();
  if (!around_.how.terminal || now < next_) {
    return;
  }
  next_ = now + redraw_time;
  drawn_ = true;
  around_.write(std::string(erase_line) + line(amount, now - start_));
}

std::string progress::line(std::uint64_t amount, clock::duration elapsed) const {
  const style& how = around_.how;
  if (total_ == 0) {
    return what_ + "  " + format_duration(elapsed);
  }
  const double ratio = std::min(1.0, static_cast<double>(amount) / static_cast<double>(total_));
  std::string text = "  " + format_percent(ratio);
  if (ratio > 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::nanoseconds>(elapsed * (1 - ratio) / ratio + 500ms);
    text += ", " + format_duration(left) + " left";
  }
  const std::size_t taken = display_width(what_) + display_width(text) + 3;
  const std::size_t columns = std::min<std::size_t>(20, how.width > taken ? how.width - taken : 0);
  return what_ + "  " + paint(how, tone::accent, bar(how, ratio, columns)) + text;
}

} // namespace nodewise::report
