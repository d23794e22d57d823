// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/arrays_picture.hpp"

#include <algorithm>
#include <set>

#include "cli/verbs/report/fields.hpp"

namespace nodewise::cli {

namespace {

std::vector<node_id> nodes_in(const std::vector<drawn_array>& arrays) {
  std::set<node_id, unknown_last> all;
  for (const drawn_array& each : arrays) {
    for (const drawing::strips& part : each.parts) {
      for (const drawing::strip& band : part.bands) {
        for (const drawing::strip_run& run : band.runs) {
          for (const auto& [node, share] : run.shares) {
            all.insert(node);
          }
        }
      }
    }
  }
  return {all.begin(), all.end()};
}

} // namespace

drawing::picture picture_of_arrays(std::string title, std::string description,
                                   const std::vector<drawn_array>& arrays) {
  constexpr double margin = 8;
  drawing::picture made;
  made.title = std::move(title);
  made.description = std::move(description);
  const drawing::area key = draw_key(made.content, {margin, margin}, nodes_in(arrays));
  double y = key.bottom() + margin;
  double widest = key.right();
  for (const drawn_array& each : arrays) {
    y += drawing::text_size;
    made.content.text({margin, y}, each.title, {.strong = true});
    widest = std::max(widest, margin + drawing::width_of(each.title, {.strong = true}));
    y += margin;
    for (const drawing::strips& part : each.parts) {
      y = draw(made.content, {margin, y}, part).bottom();
    }
    y += margin;
  }
  made.width = widest + margin;
  made.height = y;
  return made;
}

} // namespace nodewise::cli
