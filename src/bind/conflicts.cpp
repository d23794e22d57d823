// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "bind/conflicts.hpp"

#include <algorithm>
#include <utility>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "bind/team_sizes.hpp"

namespace nodewise::bind {

namespace {

constexpr std::array names = {"OMP_NUM_THREADS",     "OMP_PLACES",          "OMP_PROC_BIND",
                              "OMP_THREAD_LIMIT",    "KMP_AFFINITY",        "KMP_HW_SUBSET",
                              "GOMP_CPU_AFFINITY",   "SLURM_CPUS_PER_TASK", "SLURM_MEM_BIND",
                              "SLURM_MEM_BIND_TYPE", "SLURM_LOCALID",       "SLURM_CPU_BIND",
                              "MPI_LOCALRANKID"};

/// Linux supports no more processors: text that names larger numbers, or lists more of them, is not
/// a list of processors.
constexpr int most_listed = 1 << 13;

/// Reads lists of numbers; rejects numbers beyond `most_listed`.
class list_reader {
 public:
  explicit list_reader(std::string_view text) : rest_(text) {}

  [[nodiscard]] bool take(char expected) {
    skip_blanks();
    const bool there = rest_.starts_with(expected);
    rest_.remove_prefix(there ? 1 : 0);
    return there;
  }
  [[nodiscard]] std::optional<int> number() {
    skip_blanks();
    const auto value = take_number<int>(rest_);
    return value && *value <= most_listed && *value >= -most_listed ? value : std::nullopt;
  }
  [[nodiscard]] bool at_end() {
    skip_blanks();
    return rest_.empty();
  }

 private:
  void skip_blanks() {
    rest_.remove_prefix(std::min(rest_.find_first_not_of(" \t"), rest_.size()));
  }

  std::string_view rest_;
};

/// "LENGTH[:STRIDE]" after a colon that was already taken.
struct repetition {
  int length = 1;
  int stride = 1;
};
std::optional<repetition> read_repetition(list_reader& from) {
  const auto length = from.number();
  const auto stride = length && from.take(':') ? from.number() : std::optional(1);
  if (!length || *length < 1 || !stride) {
    return std::nullopt;
  }
  return repetition{*length, *stride};
}

/// Inserts `cpus`, shifted by multiples of the stride. False if a number is out of range, or if
/// there are too many.
bool insert_repeated(cpu_set& into, const cpu_set& cpus, const repetition& how) {
  if (cpus.size() * static_cast<std::size_t>(how.length) > most_listed) {
    return false;
  }
  for (int k = 0; k < how.length; ++k) {
    for (const cpu_id cpu : cpus) {
      const int number = to_int(cpu) + k * how.stride;
      if (number < 0 || number > most_listed) {
        return false;
      }
      into.insert(cpu_id{number});
    }
  }
  return true;
}

/// "0:4,8,!2" up to the closing brace.
std::optional<cpu_set> read_place(list_reader& from) {
  cpu_set place;
  do {
    const bool excluded = from.take('!');
    const auto first = from.number();
    if (!first || *first < 0) {
      return std::nullopt;
    }
    const auto how = from.take(':') ? read_repetition(from) : repetition{};
    cpu_set part;
    if (!how || !insert_repeated(part, {cpu_id{*first}}, *how)) {
      return std::nullopt;
    }
    place = excluded ? std::move(place) - part : std::move(place) | part;
  } while (from.take(','));
  return from.take('}') ? std::optional(std::move(place)) : std::nullopt;
}

/// Reads "3", "1-2" or "4-15:2" into a set; false if the text is not a range.
bool read_range(list_reader& from, cpu_set& into) {
  const auto first = from.number();
  const bool more = first && from.take('-');
  const auto last = more ? from.number() : first;
  const auto stride = more && from.take(':') ? from.number() : std::optional(1);
  if (!first || *first < 0 || !last || *last < *first || *last - *first > most_listed || !stride ||
      *stride < 1) {
    return false;
  }
  for (int cpu = *first; cpu <= *last; cpu += *stride) {
    into.insert(cpu_id{cpu});
  }
  return true;
}

class finder {
 public:
  finder(const settings& variables, const cpu_set& allowed, const intentions& ours)
      : variables_(variables), allowed_(allowed), ours_(ours) {}

  [[nodiscard]] std::vector<conflict> find() {
    if (!ours_.bound) {
      between_runtimes();
      outside_the_mask();
    }
    numbers_of_threads();
    batch_system();
    return std::move(found_);
  }

 private:
  [[nodiscard]] std::string_view value(std::string_view name) const {
    return value_of(variables_, name);
  }
  [[nodiscard]] std::optional<std::size_t> number(std::string_view name) const {
    std::string_view text = value(name);
    return take_number<std::size_t>(text);
  }
  [[nodiscard]] std::string option(const char* name) const { return ours_.command + name; }
  void add(std::string said, std::string outcome, std::string hint) {
    found_.push_back({std::move(said), std::move(outcome), std::move(hint)});
  }
  void add_if(bool contradict, std::string_view one, std::string_view other, std::string outcome,
              std::string hint) {
    if (contradict) {
      add(fmt::format("{} and {}", shown(variables_, one), shown(variables_, other)),
          std::move(outcome), std::move(hint));
    }
  }
  void add_affinity(std::string_view name, std::string outcome, std::string hint) {
    add(fmt::format("{} and {}", shown(variables_, name), affinity()), std::move(outcome),
        std::move(hint));
  }

  /// Without one of these words KMP_AFFINITY sets how, not where: verbose, granularity=fine.
  [[nodiscard]] bool kmp_affinity_places() const {
    std::string lower(value("KMP_AFFINITY"));
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    constexpr std::array words = {"compact",  "scatter", "balanced", "explicit", "none",
                                  "disabled", "logical", "physical", "proclist"};
    return std::ranges::any_of(words,
                               [&](const char* w) { return lower.find(w) != std::string::npos; });
  }
  [[nodiscard]] bool binds_nothing() const {
    const std::string_view text = value("OMP_PROC_BIND");
    return text == "false" || text == "FALSE" || text == "False";
  }

  /// The processors, and the setting that chose them.
  [[nodiscard]] std::string affinity() const {
    const std::string_view slurm = value("SLURM_CPU_BIND");
    const bool by_slurm = !slurm.empty() && slurm.find("none") == std::string_view::npos;
    const std::string chooser = !ours_.processors.empty() ? ours_.processors
                                : by_slurm                ? shown(variables_, "SLURM_CPU_BIND")
                                                          : "";
    return fmt::format("an affinity of processors {}{}{}", allowed_.to_string(),
                       chooser.empty() ? "" : " by ", chooser);
  }

  void between_runtimes() {
    const std::string leave_one =
        fmt::format("unset one of them, or use {}, which removes them", option("--bind"));
    const bool places = !value("OMP_PLACES").empty();
    const bool gomp = !value("GOMP_CPU_AFFINITY").empty();
    const std::string_view omp = places ? "OMP_PLACES" : "OMP_PROC_BIND";
    const bool kmp = kmp_affinity_places();
    add_if(kmp && !value(omp).empty(), "KMP_AFFINITY", omp,
           fmt::format("libomp follows KMP_AFFINITY only, libgomp follows {}", omp), leave_one);
    add_if(kmp && gomp, "KMP_AFFINITY", "GOMP_CPU_AFFINITY",
           "libomp follows KMP_AFFINITY, libgomp follows GOMP_CPU_AFFINITY", leave_one);
    add_if(gomp && places, "GOMP_CPU_AFFINITY", "OMP_PLACES",
           "libgomp follows OMP_PLACES, libomp follows GOMP_CPU_AFFINITY", leave_one);
    add_if(gomp && !places && binds_nothing(), "GOMP_CPU_AFFINITY", "OMP_PROC_BIND",
           "libgomp binds no thread, libomp follows GOMP_CPU_AFFINITY", leave_one);
    add_if(places && binds_nothing(), "OMP_PLACES", "OMP_PROC_BIND",
           "OMP_PROC_BIND wins in libgomp and libomp: no thread is bound",
           fmt::format("unset OMP_PROC_BIND, or use {}", option("--bind")));
    add_if(places && !value("KMP_HW_SUBSET").empty(), "KMP_HW_SUBSET", "OMP_PLACES",
           "libomp drops places outside the subset, libgomp ignores the subset", leave_one);
  }

  /// If a list has processors that are not allowed: `some` is the outcome if it also has allowed
  /// ones, `none` if not.
  void check_list(std::string_view name, const std::optional<cpu_set>& listed, const char* some,
                  const char* none) {
    if (listed && !allowed_.includes(*listed)) {
      add_affinity(
          name, listed->intersects(allowed_) ? some : none,
          fmt::format("list processors in {}, or use {}", allowed_.to_string(), option("--bind")));
    }
  }

  void outside_the_mask() {
    const std::string_view places = value("OMP_PLACES");
    check_list("OMP_PLACES", listed_places(places),
               "libgomp and libomp drop the processors that are not allowed, and threads share "
               "the rest",
               "libgomp and libomp ignore the whole list");
    check_list("KMP_AFFINITY", listed_kmp_affinity(value("KMP_AFFINITY")),
               "libomp drops the processors that are not allowed, and threads share the rest",
               "libomp ignores the whole list and binds no thread");
    if (places.empty() && !binds_nothing()) {
      const char* const outcome = "libgomp pins threads outside this affinity, libomp drops the "
                                  "processors that are not allowed";
      check_list("GOMP_CPU_AFFINITY", listed_gomp_affinity(value("GOMP_CPU_AFFINITY")), outcome,
                 outcome);
    }
  }

  void numbers_of_threads() {
    // "4,2" means nested teams with eight threads in total.
    const std::size_t threads = threads_of_teams(parse_team_sizes(value("OMP_NUM_THREADS")));
    if (threads == 0) {
      return;
    }
    const std::size_t limit = number("OMP_THREAD_LIMIT").value_or(threads);
    add_if(limit < threads, "OMP_NUM_THREADS", "OMP_THREAD_LIMIT",
           fmt::format("libgomp and libomp start {}", counted(limit, "thread")),
           "unset OMP_THREAD_LIMIT");
    const std::size_t of_task = number("SLURM_CPUS_PER_TASK").value_or(threads);
    add_if(of_task != threads, "OMP_NUM_THREADS", "SLURM_CPUS_PER_TASK",
           fmt::format("the runtimes follow OMP_NUM_THREADS: {}",
                       threads < of_task ? "processors of the task stay idle"
                                         : "threads take turns on the task's processors"),
           fmt::format("use srun --cpus-per-task={}, or {}{}", threads, option("--threads "),
                       of_task));
    if (!ours_.bound && threads > allowed_.size()) {
      add_affinity(
          "OMP_NUM_THREADS",
          fmt::format("threads take turns on {}", counted(allowed_.size(), "processor")),
          fmt::format("use {}{}, or more processors", option("--threads "), allowed_.size()));
    }
  }

  void batch_system() {
    const char* const slurm =
        value("SLURM_MEM_BIND_TYPE").empty() ? "SLURM_MEM_BIND" : "SLURM_MEM_BIND_TYPE";
    const std::string_view bound = value(slurm);
    if (!ours_.memory.empty() && !bound.empty() && bound.find("none") == std::string_view::npos) {
      add(fmt::format("{} and {}", shown(variables_, slurm), ours_.memory),
          fmt::format("{} wins: it is set after srun's policy", ours_.memory),
          fmt::format("omit {}, or use srun --mem-bind=none", ours_.memory));
    }
    const auto slurm_rank = number("SLURM_LOCALID");
    const auto hydra_rank = number("MPI_LOCALRANKID");
    add_if(ours_.by_rank && slurm_rank && hydra_rank && *slurm_rank != *hydra_rank, "SLURM_LOCALID",
           "MPI_LOCALRANKID",
           "the rank is taken from SLURM_LOCALID, which processes of mpiexec inherit from its "
           "daemon",
           "under mpiexec, start the program with env -u SLURM_LOCALID");
  }

  const settings& variables_;
  const cpu_set& allowed_;
  const intentions& ours_;
  std::vector<conflict> found_;
};

} // namespace

settings read_settings(environment get) {
  settings found;
  for (const char* const name : names) {
    if (const char* const value = get(name)) {
      found.emplace(name, value);
    }
  }
  return found;
}

std::string_view value_of(const settings& variables, std::string_view name) {
  const auto found = variables.find(name);
  return found == variables.end() ? std::string_view{} : found->second;
}

std::string shown(const settings& variables, std::string_view name) {
  return fmt::format("{}={}", name, value_of(variables, name));
}

std::vector<conflict> find_conflicts(const settings& variables, const cpu_set& allowed,
                                     const intentions& ours) {
  return variables.empty() ? std::vector<conflict>{} : finder(variables, allowed, ours).find();
}

std::optional<cpu_set> listed_places(std::string_view text) {
  list_reader from(text);
  cpu_set all;
  do {
    const bool excluded = from.take('!');
    if (!from.take('{')) {
      return std::nullopt;
    }
    const auto place = read_place(from);
    const auto how = from.take(':') ? read_repetition(from) : repetition{};
    if (!place || !how || (!excluded && !insert_repeated(all, *place, *how))) {
      return std::nullopt;
    }
  } while (from.take(','));
  return from.at_end() ? std::optional(std::move(all)) : std::nullopt;
}

std::optional<cpu_set> listed_kmp_affinity(std::string_view text) {
  constexpr std::string_view begin = "proclist=[";
  const std::size_t at = text.find(begin);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  list_reader from(text.substr(at + begin.size()));
  cpu_set all;
  while (!from.take(']')) {
    // Braces make a place of several processors.
    (void)from.take('{');
    if (!read_range(from, all)) {
      return std::nullopt;
    }
    (void)from.take('}');
    (void)from.take(',');
  }
  return all;
}

std::optional<cpu_set> listed_gomp_affinity(std::string_view text) {
  list_reader from(text);
  cpu_set all;
  while (!from.at_end()) {
    if (!read_range(from, all)) {
      return std::nullopt;
    }
    (void)from.take(',');
  }
  return all;
}

} // namespace nodewise::bind
