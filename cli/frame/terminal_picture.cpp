// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/terminal_picture.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

#include <sys/ioctl.h>
#include <unistd.h>

#include "base/environment.hpp"
#include "base/text.hpp"
#include "cli/frame/inline_image.hpp"
#include "cli/frame/png.hpp"
#include "cli/frame/terminal.hpp"
#include "drawing/svg.hpp"

namespace nodewise::cli {

namespace {

constexpr const char* to_a_file = "write the picture to a file: -o FILE.svg or -o FILE.png";

/// In the order of `image_protocol`: the choices of --picture.
constexpr std::array protocol_words = {std::string_view("kitty"), std::string_view("iterm2"),
                                       std::string_view("sixel")};

struct known_terminal {
  const char* variable;
  std::string_view value; ///< empty: any
  image_protocol draws;
};
constexpr std::array known_terminals = {
    known_terminal{"KITTY_WINDOW_ID", "", image_protocol::kitty},
    known_terminal{"TERM", "xterm-kitty", image_protocol::kitty},
    known_terminal{"TERM", "xterm-ghostty", image_protocol::kitty},
    known_terminal{"TERM_PROGRAM", "ghostty", image_protocol::kitty},
    known_terminal{"TERM_PROGRAM", "iTerm.app", image_protocol::iterm2},
    known_terminal{"LC_TERMINAL", "iTerm2", image_protocol::iterm2}, // ssh passes it on
    known_terminal{"TERM_PROGRAM", "WezTerm", image_protocol::iterm2},
    known_terminal{"TERM_PROGRAM", "mintty", image_protocol::iterm2}};

std::string_view value_in(const variable_lookup& get, const char* name) {
  const char* const value = get(name);
  return value == nullptr ? std::string_view{} : std::string_view{value};
}

bool is_multiplexer(const variable_lookup& get) {
  const std::string_view term = value_in(get, "TERM");
  return !value_in(get, "TMUX").empty() || !value_in(get, "STY").empty() ||
         term.starts_with("tmux") || term.starts_with("screen");
}

struct picture_terminal {
  image_protocol draws;
  bool dark = false;
};

picture_terminal find_terminal(const invocation& given) {
  if (::isatty(STDOUT_FILENO) != 1) {
    throw error(error_kind::usage, option_name(flags::picture), "standard output is not a terminal",
                to_a_file);
  }
  const auto answers = ask_terminal(may_ask_about_kitty(process_environment));
  picture_terminal found{image_protocol::kitty, is_dark(answers, process_environment)};
  const auto word = std::ranges::find(protocol_words, given.text(flags::picture).value_or(""));
  if (word != protocol_words.end()) {
    found.draws = static_cast<image_protocol>(word - protocol_words.begin());
  } else if (const auto named = protocol_by_name(process_environment)) {
    found.draws = *named;
  } else if (answers.sixel && !answers.kitty) {
    found.draws = image_protocol::sixel;
  } else if (!answers.kitty) {
    throw error(error_kind::system, option_name(flags::picture),
                "the terminal does not report that it draws pictures (protocols of Kitty and "
                "iTerm2, Sixel)",
                fmt::format("{}; or name the protocol if it has one: --picture=sixel", to_a_file));
  }
  return found;
}

/// Of the window, in pixels; 0 if the terminal does not report it.
std::size_t window_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_xpixel : 0;
}

} // namespace

std::optional<image_protocol> protocol_by_name(const variable_lookup& get) {
  const auto found = std::ranges::find_if(known_terminals, [&](const known_terminal& each) {
    const std::string_view value = value_in(get, each.variable);
    return each.value.empty() ? !value.empty() : value == each.value;
  });
  return found == known_terminals.end() || is_multiplexer(get) ? std::nullopt
                                                               : std::optional(found->draws);
}

bool may_ask_about_kitty(const variable_lookup& get) {
  const std::string_view term = value_in(get, "TERM");
  return !is_multiplexer(get) && !term.empty() && term != "dumb" && term != "linux";
}

bool is_dark(const terminal_answers& answers, const variable_lookup& get) {
  // "15;0", "15;default;0": the last number is the background, of 16 colours.
  const std::string_view last = split(value_in(get, "COLORFGBG"), ';').back();
  const bool is_known = !last.empty() && last != "default";
  return answers.dark.value_or(is_known && last != "7" && last != "15");
}

void check_picture_terminal(const invocation& given) {
  (void)find_terminal(given);
}

void draw_picture(std::string svg, const invocation& given) {
  const picture_terminal found = find_terminal(given);
  const std::string asked = option_name(flags::picture);
  const std::string png =
      png_of(drawing::with_one_scheme(std::move(svg),
                                      found.dark ? drawing::scheme::dark : drawing::scheme::light),
             asked, window_width());
  const std::string image = found.draws == image_protocol::kitty    ? kitty_image(png)
                            : found.draws == image_protocol::iterm2 ? iterm2_image(png)
                                                                    : sixel_of(png, asked);
  write_screen(image + "\n");
}

} // namespace nodewise::cli
