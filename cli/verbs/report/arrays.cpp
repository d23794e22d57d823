// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/verbs/report/arrays.hpp"

#include <algorithm>

#include "base/text.hpp"
#include "profile/places.hpp"

namespace nodewise::cli {

namespace {

double amount_of(const profile::object& what) {
  double sum = 0;
  for (const profile::use_run& run : what.uses) {
    for (const profile::use& each : run.by) {
      sum += each.amount;
    }
  }
  return sum;
}

class array_sums {
 public:
  array_sums(const profile::program& in, node_matrix* between) : threads_(in), between_(between) {}

  void add(const profile::object& what, shown_array& to) {
    to.bytes += what.bytes;
    to.resident += what.resident;
    for (const profile::resident_run& run : what.where) {
      to.pages_on[run.node] += static_cast<double>(run.count);
    }
    const double moved = profile::moved_per_use(what);
    for (const profile::use_run& run : what.uses) {
      for (const profile::use& each : run.by) {
        to.used += each.amount * moved;
        for (const auto& [node, share] : threads_.of(each.by)) {
          to.used_by[node] += each.amount * moved * share;
        }
      }
    }
    profile::for_each_moved_part(what, threads_,
                                 [&](profile::thread_index /*by*/, node_id from, node_id memory,
                                     double amount) { add_moved(from, memory, amount, to); });
  }

 private:
  void add_moved(node_id from, node_id to, double amount, shown_array& of) {
    if (from == unknown_node || to == unknown_node) {
      return;
    }
    of.known += amount;
    of.remote += from == to ? 0 : amount;
    if (between_ != nullptr) {
      (*between_)[{from, to}] += amount;
    }
  }

  profile::thread_places threads_;
  node_matrix* between_;
};

/// The line whose first touches have most pages, and how many others there are.
std::string touched_at(const shown_array& what, const profile::program& in) {
  std::map<std::string, std::uint64_t> pages;
  for (const std::size_t position : what.objects) {
    for (const profile::first_touch& touch : in.objects[position].touches) {
      if (const profile::frame* const own = profile::own_frame(touch.where)) {
        pages[profile::label_of(*own)] += touch.pages;
      }
    }
  }
  const auto most =
      std::ranges::max_element(pages, {}, [](const auto& each) { return each.second; });
  const std::string others =
      pages.size() > 1 ? " and " + counted(pages.size() - 1, "other line") : "";
  return most == pages.end() ? "" : most->first + others;
}

std::vector<shown_array> arrays_of(const profile::program& in, std::size_t position,
                                   node_matrix* between) {
  const std::vector<std::string> names = profile::names_of(in);
  std::map<std::string, shown_array> by_name;
  array_sums sums(in, between);
  for (std::size_t i = 0; i < in.objects.size(); ++i) {
    shown_array& of = by_name[names[i]];
    of.program = position;
    of.name = names[i];
    of.objects.push_back(i);
    sums.add(in.objects[i], of);
  }
  std::vector<shown_array> all;
  for (auto& [name, each] : by_name) {
    std::vector<std::pair<double, std::size_t>> order;
    for (const std::size_t object : each.objects) {
      order.emplace_back(-amount_of(in.objects[object]), object);
    }
    std::ranges::sort(order);
    std::ranges::transform(order, each.objects.begin(), [](const auto& of) { return of.second; });
    each.touched_at = touched_at(each, in);
    all.push_back(std::move(each));
  }
  return all;
}

/// Amounts of one page, as strips show them: shares of the most used page are smaller than 1.
drawing::strip_run shares_of(const profile::use_run& run, const places_of_thread& places_of) {
  std::map<node_id, double> amounts;
  double sum = 0;
  for (const profile::use& each : run.by) {
    for (const auto& [node, share] : places_of(each.by)) {
      amounts[node] += each.amount * share;
    }
    sum += each.amount;
  }
  drawing::strip_run made{run.first, run.count, {}};
  for (const auto& [node, amount] : amounts) {
    made.shares.emplace_back(node, amount / sum);
  }
  return made;
}

} // namespace

std::vector<shown_array> shown_arrays(const profile::profile& of, node_matrix* between) {
  std::vector<shown_array> all;
  for (std::size_t i = 0; i < of.programs.size(); ++i) {
    std::ranges::move(arrays_of(of.programs[i], i, between), std::back_inserter(all));
  }
  std::ranges::sort(all, [](const shown_array& a, const shown_array& b) {
    return std::tuple(-a.used, ~a.bytes, a.program, std::string_view(a.name)) <
           std::tuple(-b.used, ~b.bytes, b.program, std::string_view(b.name));
  });
  return all;
}

drawing::strip users_of(const profile::object& what, std::string_view title,
                        const places_of_thread& places_of) {
  drawing::strip made{std::string(title), {}};
  for (const profile::use_run& run : what.uses) {
    made.runs.push_back(shares_of(run, places_of));
  }
  return made;
}

drawing::strips strips_of(const profile::object& what, const profile::program& in) {
  drawing::strips made;
  made.pages = std::max(what.pages, std::uint64_t{1});
  drawing::strip& where = made.bands.emplace_back(drawing::strip{"pages are on", {}});
  for (const profile::resident_run& run : what.where) {
    where.runs.push_back({run.first, run.count, {{run.node, 1}}});
  }
  if (what.uses.empty()) {
    drawing::strip& first = made.bands.emplace_back(drawing::strip{"first touched on", {}});
    for (const profile::touched_run& run : what.touched) {
      first.runs.push_back({run.first, run.count, {{run.from, 1}}});
    }
    return made;
  }
  const profile::thread_places threads(in);
  made.bands.push_back(users_of(what, "used by threads on",
                                [&](profile::thread_index by) { return threads.of(by); }));
  return made;
}

} // namespace nodewise::cli
