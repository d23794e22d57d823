// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/joint_plan.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

namespace nodewise::advise {

namespace {

/// Whether both are for the same objects, regardless of size.
bool are_for_the_same(const plans::condition& a, const plans::condition& b) {
  plans::condition sized = b;
  sized.least_bytes = a.least_bytes;
  sized.most_bytes = a.most_bytes;
  return a == sized;
}

bool places_alike(const plans::entry& a, const plans::entry& b) {
  return a.how == b.how && a.thread == b.thread && a.granule_bytes == b.granule_bytes &&
         a.parts == b.parts;
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
  return "rank " + std::to_string(of.program(program).rank.value_or(-1));
}

/// What one rank wants for objects that the other rank has but leaves alone; empty if nothing.
std::string wanted_alone(const analysis_input& of, const proposal& by, proposal& from) {
  for (const plans::entry& each : by.plan.objects) {
    if (find(from.plan, each.which) == nullptr && has_site(of, from.program, each.which)) {
      return rank_text(of, by.program) + " wants " + plans::label_of(each.which) + " " +
             plans::word_of(each) + ", and " + rank_text(of, from.program) + " as it is";
    }
  }
  return {};
}

std::string disagreement_of(const analysis_input& of, const proposal& other, proposal& into) {
  const std::string both =
      rank_text(of, into.program) + " and " + rank_text(of, other.program) + " differ: ";
  if (into.plan.threads != other.plan.threads || into.plan.bind != other.plan.bind) {
    return both + std::to_string(into.plan.threads) + " threads, bound " +
           std::string(to_string(into.plan.bind)) + "; " + std::to_string(other.plan.threads) +
           ", bound " + std::string(to_string(other.plan.bind));
  }
  for (const plans::entry& each : other.plan.objects) {
    const plans::entry* const same = find(into.plan, each.which);
    if (same != nullptr && !places_alike(*same, each)) {
      return both + plans::label_of(each.which) + " " + plans::word_of(*same) + "; " +
             plans::word_of(each);
    }
  }
  proposal copy = other;
  std::string alone = wanted_alone(of, other, into);
  alone = alone.empty() ? wanted_alone(of, into, copy) : alone;
  return alone.empty() ? alone : both + alone;
}

} // namespace

void join(const analysis_input& of, const proposal& other, proposal& into) {
  into.disagreement = disagreement_of(of, other, into);
  if (!into.disagreement.empty()) {
    into.remarks.push_back("for " + rank_text(of, into.program) +
                           " alone, since ranks want different plans: " + into.disagreement);
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
