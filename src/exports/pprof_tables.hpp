// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The tables of a pprof file: strings, functions, places in code, binaries. Samples refer to them
// by number.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "profile/profile.hpp"

namespace nodewise::exports {

/// A number of 1 or more; 0 is none.
using table_number = std::uint64_t;

class pprof_tables {
 public:
  /// Of a name or a sentence. Control characters and bytes that are not UTF-8 become escapes.
  [[nodiscard]] std::int64_t text(std::string_view what);

  /// The binaries of the program are those of the frames that follow.
  void enter(const profile::program& which);
  /// Innermost first; without the agent's frames. Inlined calls share a place with their caller.
  /// All offsets but the first are return addresses.
  [[nodiscard]] std::vector<table_number> places(std::span<const profile::frame> chain);
  /// A place that has a name and no code, such as an array; `made_at` may be null.
  [[nodiscard]] table_number named_place(std::string_view name, const profile::frame* made_at);

  /// Mappings, locations, functions and strings, encoded. Call it last.
  [[nodiscard]] std::string encoded() const;

 private:
  struct binary {
    std::int64_t file = 0;
    std::int64_t build_id = 0;
    bool functions = true; ///< known for every place
    bool files = true;
    bool lines = true;
    bool inlined = false; ///< there are inlined calls
  };
  using function_key = std::pair<std::int64_t, std::int64_t>; ///< name, file
  using line_of_code = std::pair<table_number, std::int64_t>; ///< function, line
  using place_key = std::tuple<table_number, std::uint64_t, std::vector<line_of_code>>;

  [[nodiscard]] table_number binary_of(const std::string& module);
  [[nodiscard]] table_number binary_number(std::string_view file, std::string_view build_id);
  [[nodiscard]] table_number function(std::string_view name, std::string_view file);
  [[nodiscard]] line_of_code line_of(const profile::frame& at, table_number in);
  [[nodiscard]] table_number place(place_key what);

  std::map<std::string, std::int64_t, std::less<>> numbers_ = {{"", 0}};
  std::vector<std::string> texts_ = {""};
  std::map<function_key, table_number> functions_;
  std::map<place_key, table_number> places_;
  std::map<std::pair<std::int64_t, std::int64_t>, table_number> binary_numbers_;
  std::vector<binary> binaries_;
  const profile::program* program_ = nullptr;
};

} // namespace nodewise::exports
