// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/json_field.hpp"

#include <algorithm>
#include <cmath>

#include <nlohmann/json.hpp>

namespace nodewise {

namespace {

std::string joined(std::span<const std::string_view> names) {
  std::string text;
  for (const std::string_view name : names) {
    text += text.empty() ? "" : ", ";
    text += name;
  }
  return text;
}

std::string quoted(const std::string& text) {
  constexpr std::size_t longest = 60;
  std::string quote = "'";
  quote += text.size() > longest ? text.substr(0, longest) + "..." : text;
  return quote += "'";
}

} // namespace

void json_field::refuse(const std::string& problem, const std::string& hint) const {
  throw error(error_kind::input, asked_, path_.empty() ? problem : path_ + ": " + problem, hint);
}

std::string json_field::what_it_is() const {
  switch (value_->type()) {
  case json::value_t::null:
    return "null";
  case json::value_t::object:
    return "an object";
  case json::value_t::array:
    return "a list";
  case json::value_t::string:
    return "the text " + quoted(value_->get_ref<const std::string&>());
  case json::value_t::boolean:
    return value_->get<bool>() ? "true" : "false";
  default:
    return "the number " + value_->dump();
  }
}

std::optional<json_field> json_field::find(std::string_view key) const {
  if (!value_->is_object()) {
    refuse(what_it_is() + " where an object is meant", "write { ... }");
  }
  const auto it = value_->find(std::string(key));
  if (it == value_->end()) {
    return std::nullopt;
  }
  std::string path = path_.empty() ? std::string(key) : path_ + "." + std::string(key);
  return json_field(*it, std::move(path), asked_);
}

json_field json_field::at(std::string_view key) const {
  auto found = find(key);
  if (!found) {
    refuse("there is no field " + quoted(std::string(key)),
           "add it; share/doc/nodewise/formats.md says how");
  }
  return *std::move(found);
}

void json_field::allow_only(std::initializer_list<std::string_view> keys) const {
  (void)find(""); // refuses what is not an object
  for (const auto& [key, value] : value_->items()) {
    const bool is_own = key.starts_with('$') || key.starts_with('_');
    if (!is_own && std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse("there is no such field as " + quoted(key),
             "it may have " + joined({keys.begin(), keys.size()}) +
                 "; a field of your own begins with an underscore");
    }
  }
}

std::vector<json_field> json_field::elements() const {
  if (!value_->is_array()) {
    refuse(what_it_is() + " where a list is meant", "write [ ... ]");
  }
  std::vector<json_field> all;
  all.reserve(value_->size());
  for (const json& element : *value_) {
    all.push_back(json_field(element, path_ + "[" + std::to_string(all.size()) + "]", asked_));
  }
  return all;
}

bool json_field::is_array() const noexcept {
  return value_->is_array();
}

bool json_field::is_text() const noexcept {
  return value_->is_string();
}

std::string json_field::text() const {
  if (!value_->is_string()) {
    refuse(what_it_is() + " where a text is meant", "write \"...\"");
  }
  return value_->get<std::string>();
}

std::uint64_t json_field::whole_number(std::uint64_t lowest, std::uint64_t highest) const {
  // The parser keeps a number that does not fit in 64 bits as a floating-point one.
  const bool is_natural = value_->is_number_unsigned() ||
                          (value_->is_number_integer() && value_->get<std::int64_t>() >= 0);
  if (!is_natural || value_->get<std::uint64_t>() < lowest ||
      value_->get<std::uint64_t>() > highest) {
    refuse(what_it_is() + " where a whole number is meant",
           "write a number from " + std::to_string(lowest) + " to " + std::to_string(highest) +
               ", without a fraction or exponent");
  }
  return value_->get<std::uint64_t>();
}

int json_field::small_number(int lowest, int highest) const {
  return static_cast<int>(
      whole_number(static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest)));
}

bool json_field::truth() const {
  if (!value_->is_boolean()) {
    refuse(what_it_is() + " where true or false is meant", "write true or false");
  }
  return value_->get<bool>();
}

double json_field::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) {
    refuse(what_it_is() + " where a number is meant", "write a number, such as 8.2");
  }
  return value_->get<double>();
}

std::size_t json_field::one_of(std::span<const std::string_view> names) const {
  const std::string given = text();
  const auto it = std::find(names.begin(), names.end(), given);
  if (it == names.end()) {
    refuse(what_it_is(), "write one of " + joined(names));
  }
  return static_cast<std::size_t>(it - names.begin());
}

void check_schema(const json_field& document, std::string_view schema) {
  const json_field field = document.at("schema");
  const std::string given = field.text();
  if (given == schema) {
    return;
  }
  const std::string_view kind = schema.substr(0, schema.rfind('/') + 1);
  const std::string reads = "this version reads '" + std::string(schema) + "'";
  if (given.starts_with(kind)) {
    field.refuse("'" + given.substr(0, 60) + "': written by a newer version of nodewise; " + reads,
                 "install that version, or have this one write the file anew");
  }
  field.refuse("'" + given.substr(0, 60) + "' is another kind of file; " + reads,
               "name a file of that kind");
}

} // namespace nodewise
