// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/profiles/gain.hpp"

#include <fmt/core.h>

namespace nodewise::cli {

namespace {

std::string with_note(std::string words, const char* before, const std::string& note) {
  return note.empty() ? words : words + before + note;
}

} // namespace

std::string gain_words(const advise::gain& of) {
  return of.how == advise::gain::kind::unavailable
             ? with_note("unavailable", ": ", of.note)
             : with_note(fmt::format("up to {:.2f}x faster (predicted)", of.ratio), "; ", of.note);
}

std::string gain_with_range(const advise::gain& of) {
  constexpr double visible = 0.01;
  if (of.how == advise::gain::kind::unavailable || !(of.high - of.low >= visible)) {
    return gain_words(of);
  }
  return with_note(
      fmt::format("{:.2f}x faster (predicted; {:.2f}x to {:.2f}x with uncertain inputs)", of.ratio,
                  of.low, of.high),
      "; ", of.note);
}

} // namespace nodewise::cli
