// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Settings that contradict each other. Batch system, launcher, OpenMP runtime and user each have
// variables that say where threads run, and each runtime has its own order of precedence: a program
// then runs elsewhere than the author of one of the lines believes.
//
// Who wins was measured, with libgomp of GCC 12 and libomp of LLVM 19 (tests/lab/conflicts_test.py
// measures it again): libgomp reads no KMP_ variable, prefers OMP_PLACES to GOMP_CPU_AFFINITY and
// takes the latter for a list of places; libomp prefers KMP_AFFINITY to GOMP_CPU_AFFINITY, and that
// to OMP_PROC_BIND and OMP_PLACES.
#pragma once

#include <cstddef>
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
  std::string outcome; ///< who wins, in which runtime
  std::string cure;

  friend bool operator==(const conflict&, const conflict&) = default;
};

/// The variables that take part, as the program will find them.
using settings = std::map<std::string, std::string, std::less<>>;

/// Those of the names that `find_conflicts` asks for that are set.
[[nodiscard]] settings read_settings(environment get);

/// What is done beside the variables; all empty where nothing is started.
struct intentions {
  bool bound = false;     ///< OMP_PLACES and its like are our own: each thread has its place
  bool by_rank = false;   ///< processors are chosen by the local MPI rank
  std::string processors; ///< the option that chose these processors, "--cpunodebind 0"
  std::string memory;     ///< the option that gives a policy to memory, "--membind 0"
  /// Stands before options in cures where these are not the options of the command that tells them.
  std::string command; ///< "nodewise run "
};

/// `allowed`: the processors that the program will be allowed.
[[nodiscard]] std::vector<conflict> find_conflicts(const settings& said, const cpu_set& allowed,
                                                   const intentions& ours = {});

/// The processors that a value of OMP_PLACES lists: "{0:4},{8,9}:2:4"; nullopt for an abstract name
/// such as cores, and for what is no such list.
[[nodiscard]] std::optional<cpu_set> listed_places(std::string_view text);
/// Those of a list in KMP_AFFINITY: "explicit,proclist=[0,{1,2},4-8:2]"; nullopt if there is none.
[[nodiscard]] std::optional<cpu_set> listed_kmp_affinity(std::string_view text);
/// Those of GOMP_CPU_AFFINITY: "0 3 1-2 4-15:2".
[[nodiscard]] std::optional<cpu_set> listed_gomp_affinity(std::string_view text);

} // namespace nodewise::bind
