// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The settings that a race tries if the user names none: what experts try first, the most promising
// first.
//
// | threads | bound | memory | why |
// |---|---|---|---|
// | as it is | no | local | today's setting, which the others must beat |
// | one per core | close | local | no thread moves, and neighbours share caches and a node |
// | as many as today | close, spread | local | the same, if OMP_NUM_THREADS is set |
// | one per core | close | interleave | one thread initialised the data, or all use all of it |
// | one per core | close | blocked | one thread initialised the data, and each uses its part |
// | one per core | close | prefer:HBM | the machine has fast memory, and the data may fit |
// | one per core | close | local | huge pages: see axis pages |
// | as it is | no | interleave | the same for programs that bind their threads themselves |
// | as it is | no | local | the same for huge pages alone |
// | half the cores | spread | local | half the cores use up the memory bandwidth |
// | half the cores | spread | interleave | the same, and one thread initialised the data |
// | cores of a node | close | local | work on several nodes costs more than it gains |
// | cores of a package | close | local | the same, if packages and nodes differ |
// | half the cores | close | local | the program does not scale to all nodes |
// | all hardware threads | close | local | threads wait for memory, and others use the core then |
// | all hardware threads | close | blocked | the same, and one thread initialised the data |
// | one per core | close | cyclic:64K | a thread's part moves through the array |
// | one per core | close | weighted:auto | memories differ in bandwidth, and it was measured |
// | as it is | no | local | axis balancing: the kernel's NUMA balancing switched on, or off |
// | one per core | close | local | axis balancing: the same with bound threads |
// | one per core | in its node | local | other work disturbs, and the kernel may move threads |
//
// One thread per core bound spread is the same as bound close. Memory "local" is first touch, the
// kernel's default, and needs no option. Axis smt: second hardware threads used, or left idle. Axis
// nodes: each node alone if there are up to four (devices make nodes differ), else the first;
// those of a package; half of them. Axis pages: `--huge-pages on` if the kernel gives huge pages
// only on request, `--huge-pages off` if it gives them to all memory.
//
// With ranks of MPI, there are other rows, since OMP_NUM_THREADS and the launcher determine the
// threads: one rank per node, socket or core, bound close; the first with interleaved memory, too;
// and interleaved memory alone.
//
// Rows that mean the same as an earlier one on this machine are left out: settings that bind are
// compared by the processors of each thread.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "sys/kernel.hpp"
#include "tune/axis.hpp"
#include "tune/setting.hpp"

namespace nodewise::tune {

/// The axes of a list as the user writes it: "threads,bind". Throws `error` (usage) that lists all
/// axes, for an empty list, an unknown name and a name given twice.
[[nodiscard]] std::vector<axis> read_axes(std::string_view list);

/// Of a list without settings of the user's own.
inline constexpr std::size_t most_candidates = 16;

struct candidate_request {
  /// Options of other axes are left out, except that `--memory blocked` and `--smt on` need
  /// `--bind`. Empty: only `tries`.
  std::vector<axis> over = {axis::threads, axis::bind, axis::memory, axis::pages};
  std::vector<std::string> tries; ///< texts of --try, for `read_setting`
  /// The threads that the program has as it is (OMP_NUM_THREADS); 0: unknown. It is what --bind
  /// binds if there is no option --threads.
  std::size_t threads = 0;
  /// Whether an MPI launcher starts the program: the rows are then others, and the
  /// axes threads, smt and nodes have none.
  bool ranks = false;
  /// kernel.numa_balancing now; nullopt if it cannot be changed: then no row changes it.
  std::optional<int> numa_balancing = {};
  /// Of the running kernel (`sys::read_huge_page_mode`): whether axis pages has a setting.
  sys::huge_page_mode huge_pages = sys::huge_page_mode::unavailable;
};

/// Today's setting first, then `tries` in their order, then rows of the table until there are
/// `most_candidates` in all. No two have the same options, and no two rows mean the same.
///
/// `weighted:auto` is among them only if the machine has a measured bandwidth for each memory: pass
/// a topology whose machine has these figures (`measured::with_costs`). Throws `error` (usage) if a
/// text of `tries` is invalid.
[[nodiscard]] std::vector<setting> candidates(const topology& on, const candidate_request& of);

/// The settings in a file (--candidates FILE), one on each line, as `read_setting` reads them;
/// empty lines and comments (#) are skipped, repeated settings dropped. Today's setting comes first
/// and need not be in the file. Throws `error` (input) that names file and line; also if the file
/// has no setting.
[[nodiscard]] std::vector<setting> read_candidates(std::string_view text,
                                                   const std::string& file_name);

} // namespace nodewise::tune
