// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/id_set.hpp>

#include <charconv>

#include <fmt/core.h>

#include <nodewise/error.hpp>

namespace nodewise::inline v0 {

namespace {

[[noreturn]] void refuse(std::string_view list, const std::string& answered) {
  throw error(error_kind::usage, fmt::format("the list '{}'", list), answered,
              "write numbers and ranges separated by commas, such as 0-3,8");
}

/// Takes one number off the front of `rest`.
int take_id(std::string_view& rest, std::string_view list) {
  int value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code == std::errc::result_out_of_range || value > max_id) {
    refuse(list, "a number above " + std::to_string(max_id));
  }
  if (code != std::errc{} || value < 0) {
    refuse(list, rest.empty() ? "a number is missing at the end"
                              : fmt::format("no number at '{}'", rest));
  }
  rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  return value;
}

} // namespace

template <class Id>
void id_set<Id>::refuse_negative(int id) {
  throw error(error_kind::usage, "a set with the number " + std::to_string(id),
              "node and processor numbers are 0 or more", "leave unknown ones out");
}

template <class Id>
id_set<Id> id_set<Id>::parse(std::string_view list) {
  id_set set;
  std::string_view rest = list;
  for (bool more = !list.empty(); more;) {
    const int first = take_id(rest, list);
    int last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_id(rest, list);
    }
    if (last < first) {
      refuse(list, fmt::format("the range {}-{} runs backwards", first, last));
    }
    for (int id = first; id <= last; ++id) {
      set.insert(Id{id});
    }
    more = !rest.empty();
    if (more && !rest.starts_with(',')) {
      refuse(list, fmt::format("no comma at '{}'", rest));
    }
    rest.remove_prefix(more ? 1 : 0);
  }
  return set;
}

template <class Id>
std::string id_set<Id>::to_string() const {
  std::string text;
  for (auto it = begin(); it != end();) {
    const int first = to_int(*it);
    int last = first;
    for (++it; it != end() && to_int(*it) == last + 1; ++it) {
      ++last;
    }
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (last > first) {
      text += fmt::format("-{}", last);
    }
  }
  return text;
}

template class id_set<node_id>;
template class id_set<cpu_id>;

} // namespace nodewise::inline v0
