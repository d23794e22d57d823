// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/pages/watch.hpp"

#include <algorithm>
#include <cerrno>

#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/text.hpp"
#include "cli/frame/terminal.hpp"

namespace nodewise::cli {

watch_screen::watch_screen(bool drawn) : drawn_(drawn) {
  if (!drawn_) {
    return;
  }
  if (::tcgetattr(STDIN_FILENO, &before_) == 0) {
    termios raw = before_;
    raw.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
    keys_ = ::tcsetattr(STDIN_FILENO, TCSANOW, &raw) == 0;
  }
  write_screen("\x1b[?1049h\x1b[?25l"); // alternate screen, no cursor
}

watch_screen::~watch_screen() {
  if (drawn_) {
    try {
      write_screen("\x1b[?25h\x1b[?1049l");
    } catch (const error&) {
      drawn_ = false; // the terminal is gone
    }
  }
  if (keys_) {
    ::tcsetattr(STDIN_FILENO, TCSANOW, &before_);
  }
}

void watch_screen::draw(const std::string& text) const {
  if (!drawn_) {
    write_out(text);
    return;
  }
  winsize size{};
  const bool known = ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 1;
  std::size_t lines_left = known ? size.ws_row - 1U : 24U;
  std::string out = "\x1b[H";
  const std::string shown = printable(text, kept_controls::newlines_colours);
  std::size_t at = 0;
  while (at < shown.size() && lines_left-- > 0) {
    const std::size_t end = std::min(shown.find('\n', at), shown.size());
    // No wrapping: a long line would push others off the screen.
    out += "\x1b[?7l" + shown.substr(at, end - at) + "\x1b[K\n";
    at = end + 1;
  }
  write_screen(out + "\x1b[J\x1b[?7h");
}

bool watch_screen::wait(std::chrono::milliseconds time) const {
  const auto until = std::chrono::steady_clock::now() + time;
  while (!sys::ending_signals::came()) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
        until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return true;
    }
    pollfd keyboard{STDIN_FILENO, POLLIN, 0};
    const int ready = ::poll(&keyboard, keys_ ? 1 : 0, static_cast<int>(left.count()));
    char key = 0;
    if (ready > 0 && (::read(STDIN_FILENO, &key, 1) != 1 || key == 'q' || key == 'Q')) {
      return false;
    }
  }
  return false;
}

} // namespace nodewise::cli
