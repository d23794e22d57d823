// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "topology/json_field.hpp"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <unordered_set>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "base/text.hpp"
#include "sys/descriptor.hpp"

namespace nodewise {

std::string read_whole(const std::filesystem::path& file, const std::string& asked,
                       std::size_t largest) {
  const sys::descriptor fd(::open(file.c_str(), O_RDONLY | O_CLOEXEC));
  std::string text;
  ssize_t got = fd ? 1 : -1;
  while (got > 0 && text.size() <= largest) {
    char buffer[65536];
    do {
      got = ::read(fd.number(), buffer, sizeof buffer);
    } while (got < 0 && errno == EINTR);
    text.append(buffer, static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
  }
  if (got < 0) {
    throw error(error_kind::input, asked, "it cannot be read", "check the name of the file", errno);
  }
  if (text.size() > largest) {
    throw error(error_kind::input, asked, fmt::format("more than {} MiB", largest >> 20),
                largest == largest_machine_file
                    ? "name a file with little besides the machine: the field \"machine\" of a "
                      "larger result"
                    : "name a file that nodewise wrote, or one in the format of "
                      "share/doc/nodewise/formats.md");
  }
  return text;
}

namespace {

constexpr std::size_t deepest = 64;

/// The keys that an object has so far.
class seen_keys {
 public:
  /// Adds a key; false if it is not new. `before`: the object that it goes into.
  bool add(const std::string& key, const nlohmann::ordered_json::object_t& before) {
    constexpr std::size_t few = 16; // faster to search one by one than by a table
    if (before.size() < few) {
      return std::ranges::none_of(before, [&](const auto& each) { return each.first == key; });
    }
    if (all_.empty()) {
      for (const auto& each : before) {
        all_.insert(each.first);
      }
    }
    return all_.insert(key).second;
  }

 private:
  std::unordered_set<std::string> all_;
};

/// Makes the document in time proportional to its size. Refuses deep nesting and repeated keys,
/// which JSON itself allows. (The library's parser takes time proportional to the square of the
/// size: with a callback, it goes through the enclosing value for each list and object that ends;
/// and ordered objects search all keys for each one that is added.)
class document_maker : public nlohmann::json_sax<nlohmann::ordered_json> {
 public:
  using json = nlohmann::ordered_json;

  explicit document_maker(const std::string& asked) : asked_(asked) {}

  json document;

  bool null() override { return add(nullptr); }
  bool boolean(bool value) override { return add(value); }
  bool number_integer(std::int64_t value) override { return add(value); }
  bool number_unsigned(std::uint64_t value) override { return add(value); }
  bool number_float(double value, const std::string& /*text*/) override { return add(value); }
  bool string(std::string& value) override { return add(std::move(value)); }
  bool binary(json::binary_t& value) override { return add(std::move(value)); } // never in a text

  bool start_object(std::size_t /*size*/) override { return open(json::object()); }
  bool start_array(std::size_t /*size*/) override { return open(json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(std::string& name) override {
    auto& object = open_.back().value->get_ref<json::object_t&>();
    if (!open_.back().keys.add(name, object)) {
      throw error(error_kind::input, asked_, fmt::format("the field '{}' is given twice", name),
                  "keep one of them");
    }
    object.std::vector<json::object_t::value_type>::emplace_back(std::move(name), nullptr);
    return true;
  }

  bool parse_error(std::size_t /*at*/, const std::string& /*token*/,
                   const nlohmann::detail::exception& why) override {
    // "[json.exception.parse_error.101] parse error at line 3, column 5: ..."
    const std::string_view what = why.what();
    const std::size_t start = what.find("] ");
    const std::size_t skipped = start == std::string_view::npos ? 0 : start + 2;
    throw error(error_kind::input, asked_, fmt::format("not JSON: {}", what.substr(skipped)),
                "`python3 -m json.tool FILE` shows the place");
  }

 private:
  struct level {
    json* value;
    seen_keys keys;
  };

  /// Where the next value goes: the document, the last key's value, or a new element.
  json& next() {
    if (open_.empty()) {
      return document;
    }
    json& around = *open_.back().value;
    return around.is_object() ? around.get_ref<json::object_t&>().back().second
                              : around.get_ref<json::array_t&>().emplace_back();
  }

  template <class Value>
  bool add(Value&& value) {
    next() = json(std::forward<Value>(value));
    return true;
  }

  bool open(json empty) {
    if (open_.size() >= deepest) {
      throw error(error_kind::input, asked_, fmt::format("more than {} levels of nesting", deepest),
                  "write the file in the format of share/doc/nodewise/formats.md");
    }
    json& made = next();
    made = std::move(empty);
    open_.push_back({&made, {}});
    return true;
  }

  bool close() {
    open_.pop_back();
    return true;
  }

  const std::string& asked_;
  std::vector<level> open_;
};

} // namespace

nlohmann::ordered_json parse_json(std::string_view text, const std::string& asked) {
  document_maker maker(asked);
  (void)nlohmann::ordered_json::sax_parse(text.begin(), text.end(), &maker);
  return std::move(maker.document);
}

nlohmann::ordered_json read_json_file(const std::filesystem::path& file, std::size_t largest) {
  const std::string asked = fmt::format("the file {}", file.string());
  return parse_json(read_whole(file, asked, largest), asked);
}

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

void json_field::require_object() const {
  if (!value_->is_object()) {
    refuse_kind("an object", "write { ... }");
  }
}

json_field json_field::member(std::string_view key, const json& value) const {
  return {value, asked_, fmt::format("{}{}{}", path_, path_.empty() ? "" : ".", key)};
}

std::optional<json_field> json_field::find(std::string_view key) const {
  require_object();
  const auto it = value_->find(std::string(key));
  return it == value_->end() ? std::nullopt : std::optional(member(key, *it));
}

std::vector<std::pair<std::string, json_field>> json_field::members() const {
  require_object();
  std::vector<std::pair<std::string, json_field>> all;
  for (const auto& [key, value] : value_->items()) {
    all.emplace_back(key, member(key, value));
  }
  return all;
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
  require_object();
  for (const auto& [key, value] : value_->items()) {
    const bool is_own = key.starts_with('$') || key.starts_with('_');
    if (!is_own && std::ranges::find(keys, key) == keys.end()) {
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
    all.emplace_back(element, asked_, fmt::format("{}[{}]", path_, all.size()));
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

void check_schema(const json_field& document, std::string_view schema, std::string_view older) {
  const json_field field = document.at("schema");
  const std::string given = field.text();
  if (given == schema || (!older.empty() && given == older)) {
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
