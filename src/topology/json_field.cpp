// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/json_field.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/in_quotes.hpp"
#include "base/joined.hpp"

namespace nodewise {

void json_field::refuse(const std::string& problem, const std::string& hint) const {
  throw error(error_kind::input, asked_, path_.empty() ? problem : path_ + ": " + problem, hint);
}

void json_field::refuse_kind(std::string_view wanted, const std::string& hint) const {
  refuse(fmt::format("{} instead of {}", what_it_is(), wanted), hint);
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
    return "the text " + in_quotes(value_->get_ref<const std::string&>());
  case json::value_t::boolean:
    return value_->get<bool>() ? "true" : "false";
  default:
    return "the number " + value_->dump();
  }
}

std::optional<json_field> json_field::find(std::string_view key) const {
  if (!value_->is_object()) {
    refuse_kind("an object", "write { ... }");
  }
  const auto it = value_->find(std::string(key));
  if (it == value_->end()) {
    return std::nullopt;
  }
  return json_field(*it, fmt::format("{}{}{}", path_, path_.empty() ? "" : ".", key), asked_);
}

json_field json_field::at(std::string_view key) const {
  auto found = find(key);
  if (!found) {
    refuse(fmt::format("the field {} is missing", in_quotes(key)),
           "add it as described in share/doc/nodewise/formats.md");
  }
  return *std::move(found);
}

void json_field::allow_only(std::initializer_list<std::string_view> keys) const {
  (void)find(""); // refuses what is not an object
  for (const auto& [key, value] : value_->items()) {
    const bool is_own = key.starts_with('$') || key.starts_with('_');
    if (!is_own && std::find(keys.begin(), keys.end(), key) == keys.end()) {
      refuse(
          fmt::format("unknown field {}", in_quotes(key)),
          fmt::format("use {}; begin a field of your own with an underscore", joined(keys, ", ")));
    }
  }
}

std::vector<json_field> json_field::elements() const {
  if (!value_->is_array()) {
    refuse_kind("a list", "write [ ... ]");
  }
  std::vector<json_field> all;
  all.reserve(value_->size());
  for (const json& element : *value_) {
    all.push_back(json_field(element, fmt::format("{}[{}]", path_, all.size()), asked_));
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
    refuse_kind("a text", "write \"...\"");
  }
  return value_->get<std::string>();
}

std::uint64_t json_field::whole_number(std::uint64_t lowest, std::uint64_t highest) const {
  // The parser keeps a number that does not fit in 64 bits as a floating-point one.
  const bool is_natural = value_->is_number_unsigned() ||
                          (value_->is_number_integer() && value_->get<std::int64_t>() >= 0);
  if (!is_natural || value_->get<std::uint64_t>() < lowest ||
      value_->get<std::uint64_t>() > highest) {
    refuse_kind("a whole number",
                fmt::format("write a number from {} to {}, without a fraction or exponent", lowest,
                            highest));
  }
  return value_->get<std::uint64_t>();
}

int json_field::small_number(int lowest, int highest) const {
  return static_cast<int>(
      whole_number(static_cast<std::uint64_t>(lowest), static_cast<std::uint64_t>(highest)));
}

bool json_field::truth() const {
  if (!value_->is_boolean()) {
    refuse_kind("true or false", "write true or false");
  }
  return value_->get<bool>();
}

double json_field::number() const {
  if (!value_->is_number() || !std::isfinite(value_->get<double>())) {
    refuse_kind("a number", "write a number, such as 8.2");
  }
  return value_->get<double>();
}

std::size_t json_field::one_of(std::span<const std::string_view> names) const {
  const std::string given = text();
  const auto it = std::ranges::find(names, given);
  if (it == names.end()) {
    refuse(what_it_is(), "write one of " + joined(names, ", "));
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
  const bool newer = given.starts_with(kind);
  field.refuse(
      fmt::format("'{}' is {}; this version reads '{}'", given.substr(0, 60),
                  newer ? "written by a newer version of nodewise" : "another kind of file",
                  schema),
      newer ? "install that version, or write the file again with this one"
            : "name a file of that kind");
}

} // namespace nodewise
