// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "drawing/svg.hpp"

#include <array>

#include <fmt/core.h>

#include "base/text.hpp"
#include "report/style.hpp"

namespace nodewise::drawing {

namespace {

/// With at most two decimals: more would make files larger than pictures better.
std::string number(double value) {
  std::string text = fmt::format("{:.2f}", value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) {
    text.pop_back();
  }
  return text;
}

/// In the order of `shade`.
constexpr std::array shade_names = {"text", "faint", "frame", "field", "missing"};
constexpr std::array anchor_names = {"start", "middle", "end"};

/// Without variables, which few programs for SVG know.
constexpr std::string_view light_styles =
    "text{font-family:system-ui,-apple-system,'Segoe UI',Roboto,'DejaVu Sans',sans-serif}"
    ".text{fill:#1c2430}.faint{fill:#5b6675}.paper{fill:#fff}"
    ".frame{fill:none;stroke:#d5dae0}.outline{fill:none;stroke:#aab3bf}"
    ".field{fill:#fff;stroke:#aab3bf}.missing{fill:none;stroke:#aab3bf;stroke-dasharray:2 2}";
/// What differs in the dark.
constexpr std::string_view dark_styles =
    ".text{fill:#e8ecf1}.faint{fill:#a3adb9}.paper{fill:#161b22}"
    ".frame{stroke:#343c47}.outline{stroke:#4d5866}"
    ".field{fill:#161b22;stroke:#4d5866}.missing{stroke:#4d5866}";

std::string style_element(std::string_view rules_of_dark_viewers) {
  return fmt::format("<style>{}{}</style>", light_styles, rules_of_dark_viewers);
}

/// The element in a file: the viewer chooses.
std::string style_by_viewer() {
  return style_element(fmt::format("@media (prefers-color-scheme:dark){{{}}}", dark_styles));
}

std::string place_of(const area& where) {
  return fmt::format("x=\"{}\" y=\"{}\" width=\"{}\" height=\"{}\"", number(where.x),
                     number(where.y), number(where.width), number(where.height));
}

std::string size_of(const picture& what) {
  return fmt::format("width=\"{0}\" height=\"{1}\" viewBox=\"0 0 {0} {1}\"", number(what.width),
                     number(what.height));
}

} // namespace

std::string escaped(std::string_view text) {
  std::string made;
  for (const char each : printable(text)) {
    switch (each) {
    case '&':
      made += "&amp;";
      break;
    case '<':
      made += "&lt;";
      break;
    case '>':
      made += "&gt;";
      break;
    case '"':
      made += "&quot;";
      break;
    default:
      made += each;
    }
  }
  return made;
}

double width_of(std::string_view text, const text_look& look) {
  const double per_column = look.strong ? 0.61 : 0.57; // of the size; digits in common fonts
  return static_cast<double>(report::display_width(text)) * per_column * look.size;
}

void svg::field(const area& where, std::string_view fill) {
  body_ += fill.empty() ? fmt::format("<rect class=\"field\" {} rx=\"3\"/>\n", place_of(where))
                        : fmt::format("<rect {} fill=\"{}\"/>\n", place_of(where), escaped(fill));
}

void svg::outline(const area& where) {
  body_ += fmt::format("<rect class=\"outline\" {}/>\n", place_of(where));
}

void svg::missing_field(const area& where) {
  body_ += fmt::format("<rect class=\"missing\" {}/>\n", place_of(where));
}

void svg::path(const std::vector<point>& points, std::string_view colour) {
  body_ += "<path fill=\"none\" stroke-width=\"2\" d=\"";
  for (const point& each : points) {
    body_ +=
        fmt::format("{}{} {}", &each == points.data() ? "M" : "L", number(each.x), number(each.y));
  }
  body_ += fmt::format("\" stroke=\"{}\"/>\n", escaped(colour));
}

void svg::dot(point at, std::string_view colour) {
  body_ += fmt::format("<circle cx=\"{}\" cy=\"{}\" r=\"3\" fill=\"{}\"/>\n", number(at.x),
                       number(at.y), escaped(colour));
}

void svg::line(point from, point to, shade colour) {
  body_ += fmt::format("<path class=\"{}\" d=\"M{} {}L{} {}\"/>\n",
                       shade_names.at(static_cast<std::size_t>(colour)), number(from.x),
                       number(from.y), number(to.x), number(to.y));
}

void svg::text(point at, std::string_view what, const text_look& look) {
  const std::string colour =
      look.own_colour.empty()
          ? fmt::format("class=\"{}\"", shade_names.at(static_cast<std::size_t>(look.colour)))
          : fmt::format("fill=\"{}\"", escaped(look.own_colour));
  body_ += fmt::format(
      "<text {} x=\"{}\" y=\"{}\" font-size=\"{}\"{}{}>{}</text>\n", colour, number(at.x),
      number(at.y), number(look.size),
      look.at == text_look::anchor::start
          ? ""
          : fmt::format(" text-anchor=\"{}\"", anchor_names.at(static_cast<std::size_t>(look.at))),
      look.strong ? " font-weight=\"600\"" : "", escaped(what));
}

void svg::begin_part(std::string_view description) {
  body_ += fmt::format("<g><title>{}</title>\n", escaped(description));
}

void svg::end_part() {
  body_ += "</g>\n";
}

std::string file_of(const picture& what) {
  return fmt::format("<svg xmlns=\"http://www.w3.org/2000/svg\" {} role=\"img\" "
                     "aria-labelledby=\"title description\">\n"
                     "<title id=\"title\">{}</title>\n<desc id=\"description\">{}</desc>\n{}\n"
                     "<rect class=\"paper\" width=\"100%\" height=\"100%\"/>\n{}</svg>\n",
                     size_of(what), escaped(what.title), escaped(what.description),
                     style_by_viewer(), what.content.elements());
}

std::string with_one_scheme(std::string file, scheme which) {
  // Texts cannot contain the element: they are escaped.
  const std::string by_viewer = style_by_viewer();
  if (const std::size_t at = file.find(by_viewer); at != std::string::npos) {
    file.replace(at, by_viewer.size(), style_element(which == scheme::dark ? dark_styles : ""));
  }
  return file;
}

std::string element_of(const picture& what, std::string_view id) {
  const std::string name = escaped(id);
  return fmt::format("<svg {0} role=\"img\" aria-labelledby=\"{1}-title {1}-description\">\n"
                     "<title id=\"{1}-title\">{2}</title>\n"
                     "<desc id=\"{1}-description\">{3}</desc>\n{4}</svg>\n",
                     size_of(what), name, escaped(what.title), escaped(what.description),
                     what.content.elements());
}

} // namespace nodewise::drawing
