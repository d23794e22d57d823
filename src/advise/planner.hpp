// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The best placement of objects together, by what the model says of the whole program.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include <nodewise/team_layout.hpp>

#include "advise/candidates.hpp"
#include "advise/price.hpp"
#include "advise/shape.hpp"

namespace nodewise::advise {

/// Objects that are placed alike: of one site, all of them or some.
struct assignment {
  std::size_t site = 0;
  std::vector<std::size_t> items;
  candidate how;
};

/// Which nodes the program's threads are to be on.
struct binding {
  bind_policy policy = bind_policy::none;
  std::vector<std::size_t> homes; ///< node by worker; empty: as now
  std::string remark;             ///< empty, or a sentence
};

struct decision {
  std::vector<assignment> objects;  ///< those that are not left as they are
  std::vector<std::string> remarks; ///< what there was no room for; a sentence each
  binding threads;
  course before;
  course after;
  /// Of a placement that the model prefers, and that might be slower: it is not taken.
  std::optional<gain> gamble;
};

/// The node position of each worker when the program's threads are bound by a policy; empty where
/// they cannot be.
[[nodiscard]] std::vector<std::size_t> homes_under(const analysis_input& of, std::size_t program,
                                                   bind_policy policy);

/// The policy that threads already follow; for threads that change their nodes the one that the
/// model prefers.
[[nodiscard]] binding choose_binding(const analysis& of, std::size_t program);

/// Places objects of these sites only (positions; those that cannot be placed are passed over), and
/// leaves every object that brings nearly nothing. By the model never slower than now, on a machine
/// without figures by no more than a percent; and farther than now only where that is faster even
/// if all that the model does not know is as unlucky as can be. `threads`:
/// where they will be; pages of objects that are left come where first touch by these puts them.
[[nodiscard]] decision decide(const analysis& of, const std::vector<std::size_t>& sites,
                              const binding& threads);

/// The fastest by the model's own figures, whatever they leave open: for who can try it.
[[nodiscard]] decision decide_boldly(const analysis& of, const std::vector<std::size_t>& sites,
                                     const binding& threads);

/// Places nothing. Binds the threads, unless the model expects that to be slower than now.
[[nodiscard]] decision bound_alone(const analysis& of, const binding& threads);

} // namespace nodewise::advise
