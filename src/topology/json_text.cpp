// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cerrno>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <unistd.h>

#include <fmt/core.h>
#include <nlohmann/json.hpp>

#include "sys/descriptor.hpp"
#include "topology/json_field.hpp"

namespace nodewise {

namespace {

constexpr std::size_t deepest = 64;

/// Reads a file or a pipe to the end; refuses more than the limit.
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

  explicit document_maker(const std::string& asked) : asked_(&asked) {}

  [[nodiscard]] json take() { return std::move(document_); }

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
      throw error(error_kind::input, *asked_, fmt::format("the field '{}' is given twice", name),
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
    throw error(error_kind::input, *asked_, fmt::format("not JSON: {}", what.substr(skipped)),
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
      return document_;
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
      throw error(error_kind::input, *asked_,
                  fmt::format("more than {} levels of nesting", deepest),
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

  const std::string* asked_;
  json document_;
  std::vector<level> open_;
};

} // namespace

nlohmann::ordered_json parse_json(std::string_view text, const std::string& asked) {
  document_maker maker(asked);
  (void)nlohmann::ordered_json::sax_parse(text.begin(), text.end(), &maker);
  return maker.take();
}

nlohmann::ordered_json read_json_file(const std::filesystem::path& file, std::size_t largest) {
  const std::string asked = fmt::format("the file {}", file.string());
  return parse_json(read_whole(file, asked, largest), asked);
}

} // namespace nodewise
