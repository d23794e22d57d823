// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "html/page.hpp"

#include <fmt/core.h>

#include "html/style.hpp"

namespace nodewise::html {

namespace {

using drawing::escaped;

/// A script element ends at "</script", whatever it contains. In JSON, "<" is only in texts.
std::string data_text(std::string_view json) {
  std::string made;
  for (const char each : json) {
    made += each == '<' ? "\\u003c" : std::string(1, each);
  }
  return made;
}

std::string policy_of(const script& what) {
  return fmt::format("default-src 'none'; style-src 'unsafe-inline'; img-src data:; script-src {}; "
                     "base-uri 'none'; form-action 'none'",
                     what.hash.empty() ? "'none'" : fmt::format("'{}'", what.hash));
}

std::string head_of(const page& what) {
  return fmt::format("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                     "<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n"
                     "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                     "<title>{}</title>\n<style>{}{}</style>\n</head>\n",
                     escaped(policy_of(what.interaction)), escaped(what.title), page_style(),
                     what.interaction.style);
}

std::string header_of(const page& what) {
  section facts("", "");
  facts.facts(what.facts);
  return fmt::format("<header>\n<h1>{}</h1>\n<p class=\"verdict\">{}</p>\n{}{}</header>\n",
                     escaped(what.title), escaped(what.verdict), facts.elements(),
                     what.summary.elements());
}

/// One list of links for each file.
std::string links_to(const std::vector<section>& sections) {
  std::string made = "<nav aria-label=\"Sections\">";
  const std::string* source = nullptr;
  for (const section& each : sections) {
    if (source == nullptr || *source != each.source()) {
      made += source == nullptr ? "" : "</ul>";
      source = &each.source();
      made += source->empty()
                  ? "<ul>\n"
                  : fmt::format("<ul>\n<li class=\"source\">{}:</li>\n", escaped(*source));
    }
    made +=
        fmt::format("<li><a href=\"#{}\">{}</a></li>\n", escaped(each.id()), escaped(each.title()));
  }
  return made + (source == nullptr ? "" : "</ul>") + "</nav>\n";
}

std::string text_of(const section& what) {
  const std::string id = escaped(what.id());
  const std::string source =
      what.source().empty()
          ? ""
          : fmt::format(" <span class=\"source\">{}</span>", escaped(what.source()));
  return fmt::format("<section id=\"{0}\" aria-labelledby=\"{0}-heading\">\n"
                     "<h2 id=\"{0}-heading\">{1}{2}</h2>\n{3}</section>\n",
                     id, escaped(what.title()), source, what.elements());
}

std::string script_of(const page& what) {
  if (what.interaction.text.empty()) {
    return {};
  }
  return fmt::format("<script type=\"application/json\" id=\"report-data\">{}</script>\n"
                     "<script>{}</script>\n",
                     data_text(what.data), what.interaction.text);
}

} // namespace

std::string text_of(const page& what) {
  std::string text = head_of(what) + "<body>\n" + header_of(what) + links_to(what.sections);
  text += "<main>\n";
  for (const section& each : what.sections) {
    text += text_of(each);
  }
  return text + "</main>\n" + script_of(what) + "</body>\n</html>\n";
}

} // namespace nodewise::html
