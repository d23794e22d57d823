// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/frame/inline_image.hpp"

#include <cstdint>

#include <fmt/core.h>

namespace nodewise::cli {

namespace {

/// RFC 4648, section 4.
std::string base64(std::string_view bytes) {
  constexpr std::string_view letters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t at = 0; at < bytes.size(); at += 3) {
    const std::string_view part = bytes.substr(at, 3);
    std::uint32_t bits = 0;
    for (std::size_t i = 0; i < 3; ++i) {
      bits = bits << 8 | (i < part.size() ? static_cast<unsigned char>(part[i]) : 0U);
    }
    for (std::size_t i = 0; i < 4; ++i) {
      text += i <= part.size() ? letters[bits >> (18 - 6 * i) & 63U] : '=';
    }
  }
  return text;
}

} // namespace

std::string kitty_image(std::string_view png) {
  constexpr std::size_t most_in_a_part = 4096; // of the protocol
  const std::string data = base64(png);
  std::string made;
  for (std::size_t at = 0; at < data.size(); at += most_in_a_part) {
    // a=T: transmit and display; f=100: PNG; q=2: no answer, which a shell would take for input.
    made += fmt::format("\x1b_G{}q=2,m={};{}\x1b\\", at == 0 ? "a=T,f=100," : "",
                        at + most_in_a_part < data.size() ? 1 : 0,
                        std::string_view(data).substr(at, most_in_a_part));
  }
  return made;
}

std::string iterm2_image(std::string_view png) {
  return fmt::format("\x1b]1337;File=inline=1;size={}:{}\a", png.size(), base64(png));
}

} // namespace nodewise::cli
