// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/finding.hpp"

#include <algorithm>
#include <array>

namespace nodewise::advise {

std::string_view to_string(pattern what) noexcept {
  constexpr std::array names = {
      "nameless",        "own-placement",    "buffer-cache",          "larger-than-node",
      "sparse-matrix",   "small-chunks",     "dynamic-schedule",      "used-by-all",
      "growth",          "serial-file-read", "dynamic-members",       "constructor-touch",
      "partly-parallel", "static-arrays",    "serial-initialisation", "different-schedules",
      "few-threads",     "unpinned-threads", "thread-stacks",         "unbalanced-work",
      "false-sharing"};
  static_assert(names.size() == patterns);
  return names[static_cast<std::size_t>(what)];
}

std::string name_of(pattern what) {
  std::string name(to_string(what));
  std::ranges::replace(name, '-', ' ');
  return name;
}

} // namespace nodewise::advise
