// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The grammar of hwloc's locations; hwloc_location.cpp resolves them on a machine.
#pragma once

#include "spec/devices.hpp"

namespace nodewise::spec {

/// Which of the objects of a kind: "3", "0-3", "2-", "0:4", "all", "odd", "even".
struct index_range {
  int first = 0;
  int amount = 1; ///< -1: all from `first` on
  int step = 1;
  bool wraps = false;

  [[nodiscard]] bool open() const noexcept { return amount < 0; }
};

enum class object_kind { machine, package, node, cache, core, pu };

/// One step of "package:1.core:0-3".
struct level {
  object_kind kind = object_kind::machine;
  int cache_level = 0;
  bool instruction_cache = false;
  std::optional<memory_kind> memory; ///< of "numa[hbm]"
  std::string name;                  ///< as written: "core"
  index_range which;
};

enum class combination { add, clear, intersect, exclusive };

struct location {
  std::string text;
  combination how = combination::add;
  // At most one of these is set; none means the whole machine.
  std::vector<level> levels;
  std::optional<cpu_set> mask;
  std::optional<device_name> device;
};

/// Throws `error` (usage). Names in the result point into `text`.
[[nodiscard]] std::vector<location> read_locations(std::string_view text);

/// The kind of object that a word names, by hwloc's rule: a prefix of at least two letters, in
/// either case. Returns a level without name or range; nullopt for words that hwloc does not have,
/// and for kinds that the machine schema lacks.
[[nodiscard]] std::optional<level> read_kind(std::string_view word);

/// Whether hwloc has this word, even for a kind that the machine schema lacks.
[[nodiscard]] bool is_hwloc_word(std::string_view word) noexcept;

} // namespace nodewise::spec
