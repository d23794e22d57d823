// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/terminal_query.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <string>

#include <fcntl.h>
#include <poll.h>
#include <termios.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/frame/terminal.hpp"
#include "sys/descriptor.hpp"

namespace nodewise::cli {

namespace {

constexpr std::string_view which_background = "\x1b]11;?\x1b\\";
// One pixel, to be checked and not drawn.
constexpr std::string_view whether_kitty = "\x1b_Gi=31,s=1,v=1,a=q,t=d,f=24;AAAA\x1b\\";
// Primary device attributes: the last question, since every terminal answers it.
constexpr std::string_view which_attributes = "\x1b[c";

/// The numbers of "ESC [ ? 62 ; 4 c" as text; nullopt if they have not arrived.
std::optional<std::string_view> attributes_in(std::string_view text) {
  constexpr std::string_view beginning = "\x1b[?";
  for (std::size_t at = text.find(beginning); at != std::string_view::npos;
       at = text.find(beginning, at + 1)) {
    const std::string_view rest = text.substr(at + beginning.size());
    const std::size_t end = rest.find_first_not_of("0123456789;");
    if (end != std::string_view::npos && rest[end] == 'c') {
      return rest.substr(0, end);
    }
  }
  return std::nullopt;
}

/// "ff", "ffff": a share of the largest number with as many digits.
std::optional<double> intensity(std::string_view digits) {
  unsigned value = 0;
  const auto [end, failed] =
      std::from_chars(digits.data(), digits.data() + digits.size(), value, 16);
  if (failed != std::errc() || end != digits.data() + digits.size() || digits.size() > 4) {
    return std::nullopt;
  }
  return value / static_cast<double>((1U << 4 * digits.size()) - 1);
}

/// Whether "ESC ] 11 ; rgb:1c1c/2424/3030" names a dark colour.
std::optional<bool> is_dark_in(std::string_view text) {
  constexpr std::string_view beginning = "\x1b]11;rgb:";
  const std::size_t at = text.find(beginning);
  const std::size_t end = text.find_first_of("\a\x1b", at + 1);
  if (at == std::string_view::npos || end == std::string_view::npos) {
    return std::nullopt;
  }
  const std::size_t first_digit = at + beginning.size();
  const auto parts = split(text.substr(first_digit, end - first_digit), '/');
  constexpr std::array weights = {0.2126, 0.7152, 0.0722}; // ITU-R BT.709
  double light = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    const auto share = parts.size() == weights.size() ? intensity(parts[i]) : std::nullopt;
    if (!share) {
      return std::nullopt;
    }
    light += weights.at(i) * *share;
  }
  return light < 0.5;
}

/// While this exists, what the terminal sends can be read at once and is not shown.
class unbuffered_terminal {
 public:
  unbuffered_terminal() : file_(::open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC)) {
    // A process in the background would be stopped.
    const bool may = file_ && ::tcgetpgrp(file_.number()) == ::getpgrp();
    if (!may || ::tcgetattr(file_.number(), &before_) != 0) {
      return;
    }
    termios raw = before_;
    // Also without Ctrl-C, which would leave the terminal like this.
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO | ISIG);
    raw.c_cc[VMIN] = 0;
    raw.c_cc[VTIME] = 0;
    is_set_ = ::tcsetattr(file_.number(), TCSANOW, &raw) == 0;
  }
  unbuffered_terminal(const unbuffered_terminal&) = delete;
  unbuffered_terminal& operator=(const unbuffered_terminal&) = delete;
  ~unbuffered_terminal() {
    if (is_set_) {
      ::tcsetattr(file_.number(), TCSANOW, &before_);
    }
  }

  [[nodiscard]] explicit operator bool() const noexcept { return is_set_; }
  [[nodiscard]] int number() const noexcept { return file_.number(); }

 private:
  sys::descriptor file_;
  termios before_{};
  bool is_set_ = false;
};

constexpr char interrupt_key = '\x03';

/// What the terminal sends, until it has answered all questions, Ctrl-C or the time limit.
std::string answers_from(const unbuffered_terminal& terminal) {
  constexpr std::chrono::seconds longest{2}; // through a slow ssh; only silent terminals take it
  const auto until = std::chrono::steady_clock::now() + longest;
  std::string text;
  while (!attributes_in(text) && text.find(interrupt_key) == std::string::npos) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    pollfd ready{terminal.number(), POLLIN, 0};
    std::array<char, 256> part{};
    if (left.count() <= 0 || ::poll(&ready, 1, static_cast<int>(left.count())) <= 0) {
      break;
    }
    const ssize_t got = ::read(terminal.number(), part.data(), part.size());
    if (got <= 0) {
      break; // the terminal is gone
    }
    text.append(part.data(), static_cast<std::size_t>(got));
  }
  return text;
}

} // namespace

terminal_answers read_answers(std::string_view text) {
  terminal_answers found;
  found.kitty = text.find("\x1b_Gi=31;OK") != std::string_view::npos;
  found.dark = is_dark_in(text);
  if (const auto attributes = attributes_in(text)) {
    const auto numbers = split(*attributes, ';');
    // The first number is the terminal's class.
    found.sixel = std::find(numbers.begin() + 1, numbers.end(), "4") != numbers.end();
  }
  return found;
}

terminal_answers ask_terminal(bool about_kitty) {
  std::string text;
  {
    const unbuffered_terminal terminal;
    if (!terminal) {
      return {};
    }
    std::string questions(which_background);
    questions += about_kitty ? whether_kitty : "";
    questions += which_attributes;
    if (write_all(terminal.number(), questions) == 0) {
      text = answers_from(terminal);
    }
  }
  if (text.find(interrupt_key) != std::string::npos) {
    ::raise(SIGINT);
  }
  return read_answers(text);
}

} // namespace nodewise::cli
