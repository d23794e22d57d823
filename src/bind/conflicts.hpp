// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Settings that contradict each other. Batch system, launcher, OpenMP runtime and user each have
// variables that set where threads run, and each runtime has its own order of precedence. A program
// may then run elsewhere than the author of one setting expects.
//
// The precedence was measured with libgomp of GCC 12 and libomp of LLVM 19
// (tests/lab/conflicts_test.py measures it again). libgomp reads no KMP_ variable, prefers
// OMP_PLACES to GOMP_CPU_AFFINITY and takes the latter for a list of places. libomp prefers
// KMP_AFFINITY to GOMP_CPU_AFFINITY, and that to OMP_PROC_BIND and OMP_PLACES.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/id_set.hpp>

#include "base/environment.hpp"

namespace nodewise::bind {

/// Two settings that cannot both hold.
struct conflict {
  std::string said;    ///< "KMP_AFFINITY=compact and OMP_PLACES=cores"
  std::string outcome; ///< which setting wins, in which runtime
  std::string hint;

  friend bool operator==(const conflict&, const conflict&) = default;
};

/// The variables that take part, as the program will find them.
using settings = std::map<std::string, std::string, std::less<>>;

/// The value of a variable; empty if it is not set.
[[nodiscard]] std::string_view value_of(const settings& variables, std::string_view name);
/// "OMP_PLACES=cores".
[[nodiscard]] std::string shown(const settings& variables, std::string_view name);

/// Reads the variables that `find_conflicts` looks at; leaves out those that are not set.
[[nodiscard]] settings read_settings(environment get);

/// What the command sets besides the variables; all empty if it starts no program.
struct intentions {
  bool bound = false;     ///< nodewise sets OMP_PLACES and similar: each thread has its place
  bool by_rank = false;   ///< processors are chosen by the local MPI rank
  std::string processors; ///< the option that chose these processors, "--cpunodebind 0"
  std::string memory;     ///< the option that gives a policy to memory, "--membind 0"
  /// Prefix of options in hints, used if the command that reports them does not have these options.
  std::string command; ///< "nodewise run "
};

/// `allowed`: the processors that the program will be allowed.
[[nodiscard]] std::vector<conflict>
find_conflicts(const settings& variables, const cpu_set& allowed, const intentions& ours = {});

/// The processors that a value of OMP_PLACES lists: "{0:4},{8,9}:2:4"; nullopt for an abstract name
/// such as cores, and for text that is not such a list.
[[nodiscard]] std::optional<cpu_set> listed_places(std::string_view text);
/// The processors of a list in KMP_AFFINITY: "explicit,proclist=[0,{1,2},4-8:2]"; nullopt if there
/// is no list.
[[nodiscard]] std::optional<cpu_set> listed_kmp_affinity(std::string_view text);
/// The processors of GOMP_CPU_AFFINITY: "0 3 1-2 4-15:2".
[[nodiscard]] std::optional<cpu_set> listed_gomp_affinity(std::string_view text);

} // namespace nodewise::bind
