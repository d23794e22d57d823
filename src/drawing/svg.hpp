// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A picture as SVG. Lengths are CSS pixels (1/96 inch), y grows downwards. A picture stands alone:
// it has its colours, for light and for dark viewers, and loads nothing. Texts may be anything:
// what is special in XML is escaped, what XML cannot hold becomes visible escapes.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace nodewise::drawing {

struct point {
  double x = 0;
  double y = 0;
};
struct area {
  double x = 0;
  double y = 0;
  double width = 0;
  double height = 0;
  [[nodiscard]] double right() const noexcept { return x + width; }
  [[nodiscard]] double bottom() const noexcept { return y + height; }
};

inline constexpr double text_size = 13;
inline constexpr double line_height = 18;

/// Colours by their purpose; the viewer's scheme decides which they are.
enum class shade { text, faint, frame, field, missing };

struct text_look {
  enum class anchor { start, middle, end } at = anchor::start;
  shade colour = shade::text;
  std::string own_colour = {}; ///< "#1b2a49" instead of `colour`, for text on a field of a scale
  double size = text_size;
  bool strong = false;
};

/// `text` with the characters escaped that are special in XML and HTML, and control characters
/// visible.
[[nodiscard]] std::string escaped(std::string_view text);

/// About the width of a text in a sans-serif font: the viewer's font is unknown.
[[nodiscard]] double width_of(std::string_view text, const text_look& look = {});

class svg {
 public:
  /// A field with a frame. `fill`: a colour of its own; empty: that of the paper.
  void field(const area& where, std::string_view fill = {});
  /// Around fields of other colours, one of which may be like that of the paper.
  void outline(const area& where);
  /// For a value that does not exist.
  void missing_field(const area& where);
  /// Through all of them.
  void path(const std::vector<point>& points, std::string_view colour);
  void dot(point at, std::string_view colour);
  void line(point from, point to, shade colour);
  /// `at` is the left end, middle or right end of the base line.
  void text(point at, std::string_view what, const text_look& look = {});

  /// What follows until `end_part` is one thing to a screen reader and under the mouse.
  void begin_part(std::string_view description);
  void end_part();

  /// All of it so far, as elements.
  [[nodiscard]] const std::string& elements() const noexcept { return body_; }

 private:
  std::string body_;
};

struct picture {
  svg content;
  std::string title;
  std::string description; ///< for those who cannot see it
  double width = 0;
  double height = 0;
};

/// The file, with its own colours.
[[nodiscard]] std::string file_of(const picture& what);
enum class scheme { light, dark };
/// A file of `file_of` with the colours of one scheme, for programs that have no scheme of their
/// own.
[[nodiscard]] std::string with_one_scheme(std::string file, scheme which);
/// The picture as a part of an HTML page, whose style sheet has the colours of `shade`: the classes
/// "text", "faint", "field" and "missing" below "svg". `id` is unique in the page.
[[nodiscard]] std::string element_of(const picture& what, std::string_view id);

} // namespace nodewise::drawing
