// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "bind/team_sizes.hpp"
#include "launch/planning.hpp"
#include "launch/rank_share.hpp"
#include "spec/device_kinds.hpp"
#include "spec/spec.hpp"

namespace nodewise::launch {

namespace {

/// Variables that would bind threads differently from OMP_PLACES.
constexpr const char* rivals[] = {"KMP_AFFINITY", "KMP_HW_SUBSET", "KMP_PLACE_THREADS",
                                  "GOMP_CPU_AFFINITY"};

/// Linux accepts variables of 128 KiB.
constexpr std::size_t max_variable = (std::size_t{128} << 10) - 64;

/// "3,0-1" in the written order, which likwid-pin uses and numactl does not; empty for any other
/// text.
std::vector<cpu_id> plain_list(std::string_view text) {
  std::vector<cpu_id> list;
  for (const std::string_view part : split(text, ',')) {
    const std::size_t dash = part.find('-');
    const auto first = parse_number<int>(part.substr(0, dash));
    const auto last =
        dash == std::string_view::npos ? first : parse_number<int>(part.substr(dash + 1));
    if (!first || !last || std::min(*first, *last) < 0 || std::max(*first, *last) > max_id) {
      return {};
    }
    for (int cpu = *first; cpu <= *last; ++cpu) {
      list.push_back(cpu_id{cpu});
    }
  }
  return list;
}

class processor_planner {
 public:
  explicit processor_planner(const planning& now) : now_(now), options_(now.options) {}

  void plan() {
    now_.into.widened = options_.widen || options_.ranks_per;
    choose();
    if (options_.ranks_per) {
      take_share_of_rank(*options_.ranks_per);
    }
    if (options_.smt == smt_use::off) {
      leave_out_second_threads();
    }
    if (options_.pin || options_.bind != bind_policy::none) {
      lay_threads_out();
    } else if (options_.threads) {
      now_.set("OMP_NUM_THREADS", fmt::format("{}", *options_.threads));
    }
  }

  [[nodiscard]] team_layout close_layout() const { return layout_on(chosen(), bind_policy::close); }

 private:
  /// Refuses a list outside the affinity that the caller set; numactl does so for -C only. A mask
  /// from a batch system or a launcher must not be exceeded by accident.
  template <class Resolve>
  auto within_affinity(const typed_list& list, Resolve resolve) const {
    try {
      return resolved(list, resolve);
    } catch (const error& e) {
      const bool narrowed = now_.here.allowed_cpus() != now_.here.machine().cpus();
      throw error(e.kind(), e.asked(), e.answered(),
                  narrowed && !now_.into.widened
                      ? fmt::format("{}; --all drops the affinity that the caller has set, but "
                                    "not the cpuset",
                                    e.hint())
                      : e.hint());
    }
  }

  void choose() {
    if (options_.cpus) {
      now_.into.affinity = within_affinity(*options_.cpus, [&](const std::string& text) {
        return spec::resolve_cpus(text, now_.here).cpus();
      });
    } else if (options_.cpu_nodes) {
      const node_set nodes = within_affinity(*options_.cpu_nodes, [&](const std::string& text) {
        return spec::resolve_nodes(text, now_.here, spec::node_purpose::processors);
      });
      cpu_set cpus;
      for (const node_id node : nodes) {
        cpus = std::move(cpus) | now_.here.machine().find_node(node)->cpus;
      }
      now_.into.affinity = std::move(cpus) & now_.here.allowed_cpus();
    } else if (now_.into.widened) {
      now_.into.affinity = now_.here.allowed_cpus();
    }
  }

  /// The processors that remain after the choices so far.
  [[nodiscard]] topology chosen() const {
    const cpu_set& cpus = now_.into.affinity ? *now_.into.affinity : now_.here.allowed_cpus();
    return {now_.here.machine(), cpus, now_.here.allowed_nodes()};
  }

  [[nodiscard]] rank_share part_for(const local_rank& rank, place_kind part) const {
    const std::string& kind = options_.ranks_near;
    return kind.empty()
               ? share_of_rank(chosen(), part, rank)
               : share_near_device(chosen(), spec::devices_of_kind(kind, now_.here), kind, rank);
  }

  void take_share_of_rank(place_kind part) {
    const auto rank = options_.as_rank ? options_.as_rank : find_local_rank(now_.get);
    if (!rank) {
      throw error(error_kind::usage, "--ranks-per", "no MPI launcher has set a local rank",
                  fmt::format("start it with mpirun or srun, which set one of {}",
                              joined(local_rank_variables, ", ", &rank_variables::number)));
    }
    rank_share share = part_for(*rank, part);
    const std::string asked = fmt::format("--ranks-per: rank {} of this host", rank->number);
    const std::string instead =
        fmt::format("it shares processors {} with another rank", share.cpus.to_string());
    if (share.came_round) {
      now_.cannot(asked,
                  fmt::format("there are {} parts, and {} does not give the number of ranks",
                              share.domains, rank->variable),
                  "use a launcher that sets their number, or start no more ranks than parts",
                  instead);
    }
    if (share.shares_core) {
      now_.cannot(asked,
                  fmt::format("there are {} ranks, more than the {}", rank->count.value_or(0),
                              counted(share.cores, "core")),
                  "start fewer ranks on this host", instead);
    }
    // All ranks would warn alike, so only the first does.
    if (options_.affinity_was && !options_.widen && rank->number == 0 &&
        *options_.affinity_was != now_.here.allowed_cpus()) {
      now_.cannot(
          "--ranks-per",
          fmt::format("the launcher has bound its ranks itself, the first to processors {}",
                      options_.affinity_was->to_string()),
          "switch that off: mpirun --bind-to none, srun --cpu-bind=none, mpiexec -bind-to none",
          "its binding is replaced");
    }
    now_.into.affinity = std::move(share.cpus);
    now_.into.rank = rank->number;
    now_.into.rank_parts = share.domains;
    now_.into.rank_device = std::move(share.device);
  }

  void leave_out_second_threads() {
    cpu_set first;
    for (const cpu_set& core : chosen().places(place_kind::cores)) {
      first.insert(core.first());
    }
    now_.into.affinity = std::move(first);
  }

  [[nodiscard]] std::vector<std::size_t> teams_of_variable() const {
    const char* const text = now_.get("OMP_NUM_THREADS");
    return bind::parse_team_sizes(text == nullptr ? "" : text);
  }

  /// The requested number of threads, from the option or from the user's own variable.
  [[nodiscard]] std::size_t wanted_threads() const {
    if (options_.threads) {
      return *options_.threads;
    }
    const std::size_t threads = bind::threads_of_teams(teams_of_variable());
    constexpr std::size_t most = std::size_t{1} << 13; // as for --threads
    if (threads > most) {
      throw error(error_kind::usage, fmt::format("OMP_NUM_THREADS={}", now_.get("OMP_NUM_THREADS")),
                  fmt::format("more than {} threads", most), "set it lower, or give --threads");
    }
    return threads;
  }

  /// Sizes of nested teams with as many threads as the layout; empty for flat teams.
  [[nodiscard]] std::vector<std::size_t> nested_teams(std::size_t laid_out) const {
    std::vector<std::size_t> teams = options_.teams.empty() ? teams_of_variable() : options_.teams;
    const bool nested = teams.size() > 1 && bind::threads_of_teams(teams) == laid_out;
    return nested ? std::move(teams) : std::vector<std::size_t>{};
  }

  [[nodiscard]] team_layout layout_on(const topology& where, bind_policy policy) const {
    return {where, layout_options{policy, wanted_threads(), options_.places, options_.smt}};
  }

  [[nodiscard]] team_layout layout() const {
    const topology where = chosen();
    if (!options_.pin) {
      return layout_on(where, options_.bind);
    }
    const std::vector<cpu_id> list = within_affinity(*options_.pin, [&](const std::string& text) {
      spec::cpu_list found = spec::resolve_cpus(text, where);
      std::vector<cpu_id> plain = plain_list(text);
      return plain.empty() ? std::move(found.in_order) : std::move(plain);
    });
    // As in likwid-pin, the list sets the number of threads.
    return team_layout::pinned(where, list, options_.threads.value_or(0), options_.places);
  }

  /// Ranks that are not bound yet would all get the same processors. Only the first warns.
  void warn_of_other_ranks() const {
    const auto rank = find_local_rank(now_.get);
    if (!options_.ranks_per && rank && rank->number == 0 && rank->count.value_or(1) > 1 &&
        now_.here.allowed_cpus().includes(now_.here.machine().cpus())) {
      now_.warn(fmt::format("{}: all {} ranks of this host get the same processors: give "
                            "--ranks-per node",
                            option(), *rank->count),
                option(), "all ranks of this host would get the same processors",
                "give --ranks-per node");
    }
  }

  /// The option that binds threads.
  [[nodiscard]] std::string option() const { return options_.pin ? "--pin" : "--bind"; }

  /// Removes variables that would bind threads differently.
  void remove_rivals() const {
    for (const char* const rival : rivals) {
      if (const char* const value = now_.get(rival)) {
        const std::string name = fmt::format("{}={}", rival, value);
        const std::string why = fmt::format("{} decides where threads run", option());
        now_.warn(fmt::format("{} removed: {}", name, why), name, why,
                  fmt::format("unset it, or leave {} out", option()));
        now_.into.variables.push_back({rival, std::nullopt});
      }
    }
  }

  void lay_threads_out() {
    warn_of_other_ranks();
    team_layout laid = layout();
    const std::string places = laid.omp_places();
    if (places.size() > max_variable) {
      throw error(error_kind::usage, fmt::format("{} threads", laid.size()),
                  "their places do not fit into a variable (OMP_PLACES)", "give fewer --threads");
    }
    now_.into.affinity = laid.cpus();
    const std::vector<std::size_t> teams = nested_teams(laid.size());
    now_.set("OMP_NUM_THREADS", teams.empty() ? laid.omp_num_threads() : joined(teams, ","));
    now_.set("OMP_PLACES", places);
    now_.set("OMP_PROC_BIND", teams.empty() ? laid.omp_proc_bind() : bind::nested_proc_bind(teams));
    remove_rivals();
    if (laid.threads_per_cpu() > 1) {
      const std::string threads = fmt::format("{} threads", laid.size());
      const std::string cpus = fmt::format("{} processors", laid.cpus().size());
      now_.warn(fmt::format("{} on {}: some take turns on one", threads, cpus), threads,
                fmt::format("there are only {}", cpus), "give fewer --threads");
    }
    now_.into.pinned = options_.pin.has_value();
    now_.into.layout = std::move(laid);
  }

  const planning& now_;
  const run_options& options_;
};

} // namespace

void plan_processors(const planning& now) {
  processor_planner(now).plan();
}

team_layout close_layout(const planning& now) {
  return processor_planner(now).close_layout();
}

} // namespace nodewise::launch
