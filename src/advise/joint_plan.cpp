// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/joint_plan.hpp"

#include <algorithm>
#include <string>

#include <fmt/core.h>

namespace nodewise::advise {

namespace {

/// Whether both are for the same objects, regardless of size.
bool are_for_the_same(const plans::condition& a, const plans::condition& b) {
  plans::condition sized = b;
  sized.least_bytes = a.least_bytes;
  sized.most_bytes = a.most_bytes;
  return a == sized;
}

plans::entry* find(plans::plan_file& in, const plans::condition& which) {
  const auto same = std::ranges::find_if(
      in.objects, [&](const plans::entry& each) { return are_for_the_same(each.which, which); });
  return same == in.objects.end() ? nullptr : &*same;
}

/// A static array's symbol, or the line that allocates the memory.
std::string label_of(const profile::object& what) {
  const profile::frame* const own = profile::own_frame(what.made_at);
  return what.name.empty() && own != nullptr ? profile::label_of(*own) : what.name;
}

bool has_site(const analysis_input& of, std::size_t program, const plans::condition& which) {
  const std::string label = plans::label_of(which);
  return std::ranges::any_of(of.items(), [&](const item& each) {
    return each.program == program && label_of(*each.what) == label;
  });
}

void widen(const plans::condition& by, plans::condition& into) {
  into.least_bytes = std::min(into.least_bytes, by.least_bytes);
  into.most_bytes = into.most_bytes && by.most_bytes
                        ? std::optional(std::max(*into.most_bytes, *by.most_bytes))
                        : std::nullopt;
}

std::string rank_text(const analysis_input& of, std::size_t program) {
  return fmt::format("rank {}", of.program(program).rank.value_or(-1));
}

/// What one rank needs for objects that the other rank has but leaves alone; empty if nothing.
std::string needed_alone(const analysis_input& of, const proposal& by, proposal& from) {
  for (const plans::entry& each : by.plan.objects) {
    if (find(from.plan, each.which) == nullptr && has_site(of, from.program, each.which)) {
      return fmt::format("{} needs {} {}, and {} as it is", rank_text(of, by.program),
                         plans::label_of(each.which), placements::text_of(each.where),
                         rank_text(of, from.program));
    }
  }
  return {};
}

std::string disagreement_of(const analysis_input& of, const proposal& other, proposal& into) {
  const std::string both =
      fmt::format("{} and {} differ: ", rank_text(of, into.program), rank_text(of, other.program));
  if (into.plan.threads != other.plan.threads || into.plan.bind != other.plan.bind) {
    return both + fmt::format("{} threads, bound {}; {}, bound {}", into.plan.threads,
                              to_string(into.plan.bind), other.plan.threads,
                              to_string(other.plan.bind));
  }
  for (const plans::entry& each : other.plan.objects) {
    const plans::entry* const same = find(into.plan, each.which);
    if (same != nullptr && same->where != each.where) {
      return both + fmt::format("{} {}; {}", plans::label_of(each.which),
                                placements::text_of(same->where), placements::text_of(each.where));
    }
  }
  proposal copy = other;
  std::string alone = needed_alone(of, other, into);
  alone = alone.empty() ? needed_alone(of, into, copy) : alone;
  return alone.empty() ? alone : both + alone;
}

} // namespace

void join(const analysis_input& of, const proposal& other, proposal& into) {
  into.disagreement = disagreement_of(of, other, into);
  if (!into.disagreement.empty()) {
    into.remarks.push_back(fmt::format("for {} alone, because ranks need different plans: {}",
                                       rank_text(of, into.program), into.disagreement));
    return;
  }
  for (const plans::entry& each : other.plan.objects) {
    if (plans::entry* const same = find(into.plan, each.which)) {
      widen(each.which, same->which);
    } else {
      into.plan.objects.push_back(each);
    }
  }
  for (const plans::library& each : other.plan.libraries) {
    if (std::ranges::find(into.plan.libraries, each.name, &plans::library::name) ==
        into.plan.libraries.end()) {
      into.plan.libraries.push_back(each);
    }
  }
}

} // namespace nodewise::advise
