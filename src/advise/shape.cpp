// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/shape.hpp"

#include <array>
#include <map>
#include <set>

#include <nodewise/arithmetic.hpp>

#include "advise/price.hpp"

namespace nodewise::advise {

namespace {

constexpr double worth_counting = 0.05; // of the pages
constexpr double works = 0.1;           // of the mean thread's use

/// Without template arguments and parameters: "ns::cell::cell".
std::string plain_name(std::string_view function) {
  std::string plain;
  int depth = 0;
  for (const char c : function) {
    if (c == '(' && depth == 0) {
      break;
    }
    depth += c == '<' ? 1 : 0;
    if (depth == 0) {
      plain += c;
    }
    depth -= c == '>' && depth > 0 ? 1 : 0;
  }
  return plain;
}

/// Whether the last two parts are equal: "ns::cell::cell".
bool repeats_its_class(const std::string& name) {
  const std::size_t scope = name.rfind("::");
  const std::string last = scope == std::string::npos ? name : name.substr(scope + 2);
  return !last.empty() && ("::" + name).ends_with("::" + last + "::" + last);
}

/// Whether the touch happened while C++ constructed objects: in "std::vector<...>",
/// "particle::particle(", or the very line of an allocation in C++.
bool is_constructor(const profile::first_touch& touch, const profile::object& what) {
  constexpr std::array<std::string_view, 6> makers = {"std::vector<",    "std::__uninitialized",
                                                      "std::_Construct", "std::valarray<",
                                                      "std::deque<",     "std::uninitialized"};
  const auto constructs = [&](const profile::frame& frame) {
    return std::ranges::any_of(makers, [&](auto m) { return frame.function.starts_with(m); }) ||
           repeats_its_class(plain_name(frame.function));
  };
  const profile::frame* const made = profile::own_frame(what.made_at);
  const profile::frame* const touched = profile::own_frame(touch.where);
  const bool is_same_line = made != nullptr && touched != nullptr && made->line > 0 &&
                            made->file == touched->file && made->line == touched->line;
  return std::ranges::any_of(touch.where, constructs) ||
         (is_same_line && made->file.find(".c", made->file.rfind('/') + 1) != std::string::npos &&
          !made->file.ends_with(".c"));
}

void add_touches(const analysis_input& of, const item& what, shape& into) {
  std::map<std::size_t, double> threads;
  std::map<std::size_t, double> nodes;
  double pages = 0;
  double followed = 0;
  std::vector<double> sums(of.nodes() + 1);
  for (const profile::touched_run& run : what.what->touched) {
    const auto count = static_cast<double>(run.count);
    if (!(count > 0)) {
      continue;
    }
    pages += count;
    if (run.by && what.first_worker + *run.by < of.workers.size()) {
      threads[what.first_worker + *run.by] += count;
    }
    const std::size_t node = of.position_of(run.from);
    if (node == nowhere) {
      followed += count;
      continue;
    }
    nodes[node] += count;
    std::ranges::fill(sums, 0);
    const auto first = static_cast<double>(run.first);
    what.now.add_pages(first, first + count, 1, sums);
    followed += sums[of.memory_of(node)] + sums.back();
  }
  if (!(pages > 0)) {
    return;
  }
  into.followed = followed / pages;
  const auto most = std::ranges::max_element(threads, {}, [](const auto& t) { return t.second; });
  if (most != threads.end()) {
    into.toucher = most->first;
    into.one_thread = most->second / pages;
  }
  into.touching_nodes = static_cast<std::size_t>(std::ranges::count_if(
      nodes, [&](const auto& each) { return each.second >= worth_counting * pages; }));
}

void add_touch_kinds(const item& what, shape& into) {
  const std::vector<profile::first_touch>& all = what.what->touches;
  const auto in_kernel = [](const profile::first_touch& each) {
    return each.how == profile::touch_kind::kernel ? each.pages : 0;
  };
  const auto in_constructor = [&](const profile::first_touch& each) {
    return is_constructor(each, *what.what) ? each.pages : 0;
  };
  if (const double pages = sum_over(all, &profile::first_touch::pages); pages > 0) {
    into.by_kernel = sum_over(all, in_kernel) / pages;
    into.by_constructor = sum_over(all, in_constructor) / pages;
  }
}

void add_residence(const analysis_input& of, const item& what, shape& into) {
  std::vector<double> sums(of.nodes() + 1, 0);
  const auto pages = static_cast<double>(what.what->pages);
  what.now.add_pages(0, pages, 1, sums);
  const double known = pages - sums.back();
  if (!(known > 0)) {
    return;
  }
  const auto most = std::max_element(sums.begin(), sums.end() - 1);
  into.memory = static_cast<std::size_t>(most - sums.begin());
  into.on_memory = *most / known;
}

/// By worker: the first worker that is the same thread of a plan.
positions first_workers_with_role(const analysis_input& of) {
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> first;
  positions made;
  for (std::size_t w = 0; w < of.workers.size(); ++w) {
    const worker& each = of.workers[w];
    const auto [found, is_new] = first.try_emplace({each.program, each.number}, w);
    made.push_back(each.number == nowhere ? w : found->second);
  }
  return made;
}

/// Collects figures of the pages' users.
class users {
 public:
  users(const analysis_input& of, const item& what)
      : of_(of), what_(what), homes_(nodes_of_threads(of, what.program, {})),
        first_with_role_(first_workers_with_role(of)), by_thread_(of.workers.size(), 0) {}

  void read(shape& into) {
    for (const profile::use_run& run : what_.uses) {
      read(run);
    }
    if (!(all_ > 0)) {
      return;
    }
    count_threads(into);
    // For the node with most use: from 0 for an equal share to 1 for all of it.
    const double equal = 1 / static_cast<double>(std::max<std::size_t>(into.using_nodes, 1));
    const auto above_equal = [&](double part) {
      return equal < 1 ? std::max(0.0, (part / all_ - equal) / (1 - equal)) : 1;
    };
    into.exclusive = above_equal(most_);
    into.in_blocks = above_equal(in_blocks_);
    into.sharers = sharers_ / all_;
    into.steady = is_steady();
    const auto many = static_cast<double>(4 * into.using_threads);
    constexpr double some = 0.25;
    into.in_runs = changes_ >= 2 && changes_ <= many;
    into.ordered =
        into.in_runs || (contested_ < some * all_ &&
                         (changes_ <= many || (in_turn_ >= 0.8 * changes_ && is_regular())));
    into.repeats = all_ * of_.program(what_.program).use_unit_bytes /
                   (pages_ * static_cast<double>(of_.profile.page_bytes));
    into.own_touch = own_touch_ / all_;
    into.same_touch = same_touch_ / all_;
  }

 private:
  /// What each role used, by its first worker: a team that is started anew for each loop counts as
  /// one that stays. Also adds up the use by node.
  [[nodiscard]] std::map<std::size_t, double> by_role(const profile::use_run& run,
                                                      std::vector<double>& nodes) const {
    std::map<std::size_t, double> amounts;
    for_each_use(of_, what_, run, [&](std::size_t w, double amount) {
      amounts[first_with_role_[w]] += amount;
      if (const std::size_t home = home_of(w); home != nowhere) {
        nodes[home] += amount;
      }
    });
    return amounts;
  }
  /// The node where its role ran most: a thread that is started anew, or is not bound, may be on
  /// another node each time, and a plan binds it.
  [[nodiscard]] std::size_t home_of(std::size_t w) const {
    const worker& each = of_.workers[w];
    return each.number < homes_.size() && homes_[each.number] != nowhere ? homes_[each.number]
                                                                         : each.home;
  }
  void read(const profile::use_run& run) {
    std::vector<double> nodes(of_.nodes(), 0);
    double sum = 0;
    double squares = 0;
    const std::map<std::size_t, double> amounts = by_role(run, nodes);
    for (const auto& [role, amount] : amounts) {
      sum += amount;
      squares += amount * amount;
      by_thread_[role] += amount;
    }
    if (!(sum > 0) || run.count == 0) {
      return;
    }
    const auto [top, top_amount] =
        *std::ranges::max_element(amounts, {}, [](const auto& each) { return each.second; });
    all_ += sum;
    pages_ += static_cast<double>(run.count);
    double next = 0; // most use by a thread on another node
    for (const auto& [role, amount] : amounts) {
      next = home_of(role) != home_of(top) ? std::max(next, amount) : next;
    }
    most_ += std::ranges::max(nodes);
    sharers_ += sum * sum * sum / squares;
    runs_.push_back({sum, top_amount / sum});
    constexpr double clearly = 1.25;
    contested_ += top_amount > clearly * next ? 0 : sum;
    const auto before = amounts.find(last_);
    const bool stays = before != amounts.end() && top_amount <= clearly * before->second;
    follow(run, stays ? last_ : top);
    touch(run, nodes);
    block(run, nodes);
  }
  /// Counts changes of the thread between neighbouring pages, and those in turn.
  void follow(const profile::use_run& run, std::size_t top) {
    if (top != last_ && last_ != nowhere) {
      ++changes_;
      const std::size_t now = of_.workers[top].number;
      const std::size_t before = of_.workers[last_].number;
      least_ = std::min({least_, now, before});
      in_turn_ += now == before + 1 || now == least_ ? 1 : 0;
      lengths_ += length_;
      squared_lengths_ += length_ * length_;
    }
    length_ = (top == last_ ? length_ : 0) + static_cast<double>(run.count);
    last_ = top;
  }
  /// Whether blocks of one thread are about equally long.
  [[nodiscard]] bool is_regular() const {
    const double mean = lengths_ / changes_;
    const double variance = squared_lengths_ / changes_ - mean * mean;
    return std::sqrt(std::max(0.0, variance)) < 0.5 * mean; // at random: 0.7 and more
  }
  /// Adds the use by the node, and by the thread, that touched these pages first.
  void touch(const profile::use_run& run, const std::vector<double>& nodes) {
    const std::vector<profile::touched_run>& all = what_.what->touched;
    while (next_touch_ < all.size() &&
           all[next_touch_].first + all[next_touch_].count <= run.first) {
      ++next_touch_;
    }
    for (std::size_t t = next_touch_; t < all.size() && all[t].first < run.first + run.count; ++t) {
      const std::size_t node = of_.position_of(all[t].from);
      const std::uint64_t first = std::max(all[t].first, run.first);
      const std::uint64_t last = std::min(all[t].first + all[t].count, run.first + run.count);
      const double part = last > first ? share_of(run, first, last) : 0;
      own_touch_ += node == nowhere ? 0 : nodes[node] * part;
      same_touch_ += all[t].by ? of_number(run, what_.first_worker + *all[t].by) * part : 0;
    }
  }
  static double share_of(const profile::use_run& run, std::uint64_t first, std::uint64_t last) {
    return static_cast<double>(last - first) / static_cast<double>(run.count);
  }
  /// The use by threads with the same number as `toucher`.
  [[nodiscard]] double of_number(const profile::use_run& run, std::size_t toucher) const {
    double sum = 0;
    for_each_use(of_, what_, run, [&](std::size_t w, double amount) {
      const bool same =
          toucher < of_.workers.size() && of_.workers[w].number == of_.workers[toucher].number;
      sum += same ? amount : 0;
    });
    return sum;
  }
  /// Adds the use by the nodes of the threads that have these pages in equal blocks.
  void block(const profile::use_run& run, const std::vector<double>& nodes) {
    const std::uint64_t pages = what_.what->pages;
    const std::uint64_t end = homes_.empty() ? 0 : std::min(run.first + run.count, pages);
    for (std::uint64_t first = run.first; first < end;) {
      const std::size_t k = arithmetic::blocked_slot(first, pages, homes_.size());
      const std::uint64_t last =
          std::min<std::uint64_t>(end, arithmetic::blocked(k, pages, homes_.size()).last);
      in_blocks_ += homes_[k] == nowhere ? 0 : nodes[homes_[k]] * share_of(run, first, last);
      first = last;
    }
  }
  void count_threads(shape& into) const {
    const auto some = std::ranges::count_if(by_thread_, [](double each) { return each > 0; });
    const double mean = all_ / static_cast<double>(std::max<std::ptrdiff_t>(some, 1));
    std::set<std::size_t> nodes;
    for (const std::size_t w :
         positions_where(by_thread_, [&](double each) { return each >= works * mean; })) {
      ++into.using_threads;
      nodes.insert(home_of(w));
    }
    nodes.erase(nowhere);
    into.using_nodes = nodes.size();
  }
  /// Whether the top thread's share is nearly the same everywhere.
  [[nodiscard]] bool is_steady() const {
    const double mean =
        sum_over(runs_, [&](const auto& run) { return run.first * run.second / all_; });
    const double variance = sum_over(runs_, [&](const auto& run) {
      return run.first * (run.second - mean) * (run.second - mean) / all_;
    });
    constexpr double few_percent = 0.03;
    return std::sqrt(variance) <= few_percent * mean;
  }

  const analysis_input& of_;
  const item& what_;
  positions homes_; ///< node by thread's number
  positions first_with_role_;
  std::vector<double> by_thread_;               ///< by the first worker of a role
  std::vector<std::pair<double, double>> runs_; ///< amount, share of the top thread
  double all_ = 0;
  double pages_ = 0; ///< that were used
  double most_ = 0;
  double sharers_ = 0;
  double contested_ = 0; ///< use of pages that threads of several nodes use about alike
  double changes_ = 0;
  double in_turn_ = 0;
  double length_ = 0; ///< consecutive pages of one thread
  double lengths_ = 0;
  double squared_lengths_ = 0;
  std::size_t least_ = nowhere; ///< the first thread's number
  double own_touch_ = 0;
  double same_touch_ = 0;
  double in_blocks_ = 0;
  std::size_t last_ = nowhere;
  std::size_t next_touch_ = 0;
};

} // namespace

shape shape_of(const analysis_input& of, const item& what) {
  shape made;
  add_touches(of, what, made);
  add_touch_kinds(what, made);
  add_residence(of, what, made);
  if (what.units > 0) {
    users(of, what).read(made);
    matrix bytes(of);
    add_item(of, what, what.now, bytes);
    made.remote = remote_share(of, bytes);
  }
  return made;
}

} // namespace nodewise::advise
