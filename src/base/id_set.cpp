// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/id_set.hpp>

#include <charconv>

#include <nodewise/error.hpp>

namespace nodewise::inline v0 {

namespace {

[[noreturn]] void refuse(std::string_view list, const std::string& answered) {
  throw error(error_kind::usage, "the list '" + std::string(list) + "'", answered,
              "write numbers and ranges separated by commas, such as 0-3,8");
}

/// Takes one number off the front of `rest`.
int take_number(std::string_view& rest, std::string_view list) {
  int value = 0;
  const auto [end, code] = std::from_chars(rest.data(), rest.data() + rest.size(), value);
  if (code == std::errc::result_out_of_range || value > max_id) {
    refuse(list, "a number above " + std::to_string(max_id));
  }
  if (code != std::errc{} || value < 0) {
    refuse(list, rest.empty() ? "a number is missing at the end"
                              : "no number at '" + std::string(rest) + "'");
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
  while (!rest.empty()) {
    const int first = take_number(rest, list);
    int last = first;
    if (rest.starts_with('-')) {
      rest.remove_prefix(1);
      last = take_number(rest, list);
    }
    if (last < first) {
      refuse(list,
             "the range " + std::to_string(first) + "-" + std::to_string(last) + " runs backwards");
    }
    for (int id = first; id <= last; ++id) {
      set.insert(Id{id});
    }
    if (rest.empty()) {
      break;
    }
    if (!rest.starts_with(',')) {
      refuse(list, "no comma at '" + std::string(rest) + "'");
    }
    rest.remove_prefix(1);
    if (rest.empty()) {
      refuse(list, "a number is missing at the end");
    }
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
    text += text.empty() ? "" : ",";
    text += std::to_string(first);
    if (last > first) {
      text += "-" + std::to_string(last);
    }
  }
  return text;
}

template class id_set<node_id>;
template class id_set<cpu_id>;

} // namespace nodewise::inline v0
