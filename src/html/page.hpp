// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A page in one file: it loads nothing, and no text in it can become markup or a script.
#pragma once

#include <string>
#include <vector>

#include "html/section.hpp"

namespace nodewise::html {

/// What makes a page interactive. Without it, the page shows the same, as it was written.
struct script {
  std::string text;
  /// "sha256-..." of the text, as in a Content-Security-Policy: the browser runs no other script.
  std::string hash;
  std::string style; ///< its style sheet
};

struct page {
  std::string title;
  std::string verdict;                                    ///< a sentence
  std::vector<std::pair<std::string, std::string>> facts; ///< below it: command, machine, date
  std::vector<section> sections;
  std::string data = "{}"; ///< JSON, for the script
  script interaction = {};
  section summary = section("summary", "In short"); ///< below the facts
};

/// The file.
[[nodiscard]] std::string text_of(const page& what);

} // namespace nodewise::html
