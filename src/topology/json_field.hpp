// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Reads JSON that others wrote: every value knows its path, so that an error can name it.
#pragma once

#include <filesystem>
#include <optional>
#include <utility>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/error.hpp>
#include <nodewise/id_set.hpp>

namespace nodewise {

/// In bytes. Results have a line for each observation; machines have tables of their nodes.
inline constexpr std::size_t largest_result_file = std::size_t{100} << 20;
inline constexpr std::size_t largest_machine_file = std::size_t{16} << 20;

/// A file or a pipe to its end. Throws `error` (input), which begins with `asked`, if it cannot be
/// read or has more than `largest` bytes.
[[nodiscard]] std::string read_whole(const std::filesystem::path& file, const std::string& asked,
                                     std::size_t largest);

/// The document in a file. Throws `error` (input) for more than `largest` bytes, more than 64
/// levels, a key given twice, text that is not UTF-8, and anything else that is not JSON.
[[nodiscard]] nlohmann::ordered_json read_json_file(const std::filesystem::path& file,
                                                    std::size_t largest = largest_result_file);

/// As above, for a text; `asked` begins the error message: "the machine file x.json".
[[nodiscard]] nlohmann::ordered_json parse_json(std::string_view text, const std::string& asked);

/// A value of a document. It refers to the document, which must outlive it.
class json_field {
 public:
  using json = nlohmann::ordered_json;

  /// `asked` describes what is read: "the machine file x.json". `path` is "nodes[1].cpus", or ""
  /// for the document itself.
  json_field(const json& value, std::string asked, std::string path = "")
      : value_(&value), asked_(std::move(asked)), path_(std::move(path)) {}

  /// Throws `error` (input), naming this field.
  [[noreturn]] void refuse(const std::string& problem, const std::string& hint) const;

  // Objects.
  [[nodiscard]] std::optional<json_field> find(std::string_view key) const;
  [[nodiscard]] json_field at(std::string_view key) const;
  /// Refuses keys that are not listed: a misspelt field must not be ignored. Keys that begin with
  /// '$' or '_' are the author's own.
  void allow_only(std::initializer_list<std::string_view> keys) const;
  /// All keys with their values, in the order of the document.
  [[nodiscard]] std::vector<std::pair<std::string, json_field>> members() const;

  // Arrays.
  [[nodiscard]] std::vector<json_field> elements() const;
  [[nodiscard]] bool is_array() const noexcept;

  // Scalars.
  [[nodiscard]] bool is_text() const noexcept;
  [[nodiscard]] std::string text() const;
  [[nodiscard]] std::uint64_t whole_number(std::uint64_t lowest = 0,
                                           std::uint64_t highest = std::uint64_t{1} << 62) const;
  [[nodiscard]] int small_number(int lowest, int highest) const;
  [[nodiscard]] double number() const;
  [[nodiscard]] bool truth() const; ///< true or false
  /// A list in the kernel's format, "0-3,8".
  template <class Id>
  [[nodiscard]] id_set<Id> ids() const {
    const std::string list = text();
    try {
      return id_set<Id>::parse(list);
    } catch (const error& e) {
      refuse(e.answered(), e.hint());
    }
  }
  /// The position of the text in `names`.
  [[nodiscard]] std::size_t one_of(std::span<const std::string_view> names) const;

 private:
  [[nodiscard]] std::string what_it_is() const;
  void require_object() const;
  [[nodiscard]] json_field member(std::string_view key, const json& value) const;
  /// Refuses a value that is not `wanted`: "a list".
  [[noreturn]] void refuse_kind(std::string_view wanted, const std::string& hint) const;

  const json* value_;
  std::string asked_;
  std::string path_;
};

/// Refuses a document whose field "schema" is not `schema` ("nodewise/machine/1") or `older`. The
/// error distinguishes a newer version of the same kind from another kind.
void check_schema(const json_field& document, std::string_view schema, std::string_view older = {});

} // namespace nodewise
