// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "bind/conflicts.hpp"
#include "bind/team_sizes.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <utility>

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
    int value = 0;
    const auto [end, code] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (code != std::errc{} || value > most_listed || value < -most_listed) {
      return std::nullopt;
    }
    rest_.remove_prefix(static_cast<std::size_t>(end - rest_.data()));
    return value;
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
  repetition what;
  const auto length = from.number();
  if (!length || *length < 1 || *length > most_listed) {
    return std::nullopt;
  }
  what.length = *length;
  if (from.take(':')) {
    const auto stride = from.number();
    if (!stride || *stride > most_listed || *stride < -most_listed) {
      return std::nullopt;
    }
    what.stride = *stride;
  }
  return what;
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
    if (!how) {
      return std::nullopt;
    }
    cpu_set part;
    if (!insert_repeated(part, {cpu_id{*first}}, *how)) {
      return std::nullopt;
    }
    place = excluded ? std::move(place) - part : std::move(place) | part;
  } while (from.take(','));
  return from.take('}') ? std::optional(std::move(place)) : std::nullopt;
}

/// Reads "3", "1-2" or "4-15:2" into a set; false if the text is not a range.
bool read_range(list_reader& from, cpu_set& into) {
  const auto first = from.number();
  if (!first || *first < 0) {
    return false;
  }
  int last = *first;
  int stride = 1;
  if (from.take('-')) {
    const auto given = from.number();
    const auto step = given && from.take(':') ? from.number() : std::optional(1);
    if (!given || *given < *first || *given - *first > most_listed || !step || *step < 1) {
      return false;
    }
    last = *given;
    stride = *step;
  }
  for (int cpu = *first; cpu <= last; cpu += stride) {
    into.insert(cpu_id{cpu});
  }
  return true;
}

class finder {
 public:
  finder(const settings& said, const cpu_set& allowed, const intentions& ours)
      : said_(said), allowed_(allowed), ours_(ours) {}

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
  [[nodiscard]] const std::string* value(std::string_view name) const {
    const auto at = said_.find(name);
    return at == said_.end() || at->second.empty() ? nullptr : &at->second;
  }
  [[nodiscard]] std::string shown(std::string_view name) const {
    return std::string(name) + "=" + *value(name);
  }
  [[nodiscard]] std::optional<std::size_t> number(std::string_view name) const {
    const std::string* const text = value(name);
    std::size_t result = 0;
    return text != nullptr &&
                   std::from_chars(text->data(), text->data() + text->size(), result).ec ==
                       std::errc{}
               ? std::optional(result)
               : std::nullopt;
  }
  [[nodiscard]] std::string option(const char* name) const { return ours_.command + name; }
  void add(std::string said, std::string outcome, std::string hint) {
    found_.push_back({std::move(said), std::move(outcome), std::move(hint)});
  }

  /// Without one of these words KMP_AFFINITY sets how, not where: verbose, granularity=fine.
  [[nodiscard]] bool kmp_affinity_places() const {
    const std::string* const text = value("KMP_AFFINITY");
    if (text == nullptr) {
      return false;
    }
    std::string lower = *text;
    std::ranges::transform(lower, lower.begin(), [](unsigned char c) {
      return static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
    });
    constexpr std::array words = {"compact",  "scatter", "balanced", "explicit", "none",
                                  "disabled", "logical", "physical", "proclist"};
    return std::ranges::any_of(words,
                               [&](const char* w) { return lower.find(w) != std::string::npos; });
  }
  [[nodiscard]] bool binds_nothing() const {
    const std::string* const text = value("OMP_PROC_BIND");
    return text != nullptr && (*text == "false" || *text == "FALSE" || *text == "False");
  }

  /// The processors, and the setting that chose them.
  [[nodiscard]] std::string affinity() const {
    const std::string text = "an affinity of processors " + allowed_.to_string();
    if (!ours_.processors.empty()) {
      return text + " by " + ours_.processors;
    }
    const std::string* const slurm = value("SLURM_CPU_BIND");
    return slurm != nullptr && slurm->find("none") == std::string::npos
               ? text + " by " + shown("SLURM_CPU_BIND")
               : text;
  }

  void between_runtimes() {
    const std::string leave_one =
        "unset one of them, or give " + option("--bind") + ", which removes them";
    const std::string* const places = value("OMP_PLACES");
    const bool gomp = value("GOMP_CPU_AFFINITY") != nullptr;
    const char* const omp = places != nullptr                   ? "OMP_PLACES"
                            : value("OMP_PROC_BIND") != nullptr ? "OMP_PROC_BIND"
                                                                : nullptr;
    if (kmp_affinity_places() && omp != nullptr) {
      add(shown("KMP_AFFINITY") + " and " + shown(omp),
          "libomp follows KMP_AFFINITY alone, libgomp follows " + std::string(omp), leave_one);
    }
    if (kmp_affinity_places() && gomp) {
      add(shown("KMP_AFFINITY") + " and " + shown("GOMP_CPU_AFFINITY"),
          "libomp follows KMP_AFFINITY, libgomp reads GOMP_CPU_AFFINITY only", leave_one);
    }
    if (gomp && places != nullptr) {
      add(shown("GOMP_CPU_AFFINITY") + " and " + shown("OMP_PLACES"),
          "libgomp follows OMP_PLACES, libomp follows GOMP_CPU_AFFINITY", leave_one);
    } else if (gomp && binds_nothing()) {
      add(shown("GOMP_CPU_AFFINITY") + " and " + shown("OMP_PROC_BIND"),
          "libgomp binds no thread, libomp follows GOMP_CPU_AFFINITY", leave_one);
    }
    if (places != nullptr && binds_nothing()) {
      add(shown("OMP_PLACES") + " and " + shown("OMP_PROC_BIND"),
          "OMP_PROC_BIND wins in libgomp and libomp: no thread is bound",
          "unset OMP_PROC_BIND, or give " + option("--bind"));
    }
    if (places != nullptr && value("KMP_HW_SUBSET") != nullptr) {
      add(shown("KMP_HW_SUBSET") + " and " + shown("OMP_PLACES"),
          "libomp drops places outside the subset, libgomp does not know the subset", leave_one);
    }
  }

  void outside_the_mask() {
    const auto complain = [&](std::string_view name, const cpu_set& listed,
                              const std::string& outcome) {
      const cpu_set outside = listed - allowed_;
      if (!outside.empty()) {
        add(shown(name) + " and " + affinity(), outcome,
            "name processors of " + allowed_.to_string() + ", or give " + option("--bind"));
      }
    };
    const std::string* const places = value("OMP_PLACES");
    if (const auto listed = places != nullptr ? listed_places(*places) : std::nullopt) {
      complain("OMP_PLACES", *listed,
               listed->intersects(allowed_)
                   ? "libgomp and libomp drop the processors that are not allowed, threads share "
                     "the rest"
                   : "libgomp and libomp ignore the whole list");
    }
    const std::string* const kmp = value("KMP_AFFINITY");
    if (const auto listed = kmp != nullptr ? listed_kmp_affinity(*kmp) : std::nullopt) {
      complain("KMP_AFFINITY", *listed,
               listed->intersects(allowed_)
                   ? "libomp drops the processors that are not allowed, threads share the rest"
                   : "libomp ignores the whole list and binds no thread");
    }
    const std::string* const gomp = value("GOMP_CPU_AFFINITY");
    if (const auto listed = gomp != nullptr && places == nullptr && !binds_nothing()
                                ? listed_gomp_affinity(*gomp)
                                : std::nullopt) {
      complain("GOMP_CPU_AFFINITY", *listed,
               "libgomp pins threads outside of it, libomp drops the processors that are not "
               "allowed");
    }
  }

  /// "4,2" means nested teams with eight threads in total.
  [[nodiscard]] std::optional<std::size_t> threads_of_all_teams() const {
    const std::string* const text = value("OMP_NUM_THREADS");
    const std::size_t threads = text == nullptr ? 0 : threads_of_teams(parse_team_sizes(*text));
    return threads == 0 ? std::nullopt : std::optional(threads);
  }
  void numbers_of_threads() {
    const auto threads = threads_of_all_teams();
    const auto limit = number("OMP_THREAD_LIMIT");
    if (threads && limit && *limit < *threads) {
      add(shown("OMP_NUM_THREADS") + " and " + shown("OMP_THREAD_LIMIT"),
          "libgomp and libomp start " + std::to_string(*limit), "unset OMP_THREAD_LIMIT");
    }
    const auto of_task = number("SLURM_CPUS_PER_TASK");
    if (threads && of_task && *of_task != *threads) {
      add(shown("OMP_NUM_THREADS") + " and " + shown("SLURM_CPUS_PER_TASK"),
          *threads < *of_task
              ? "the runtimes follow OMP_NUM_THREADS: processors of the task stay idle"
              : "the runtimes follow OMP_NUM_THREADS: threads take turns on the task's processors",
          "give srun --cpus-per-task=" + std::to_string(*threads) + ", or " + option("--threads ") +
              std::to_string(*of_task));
    }
    if (threads && !ours_.bound && *threads > allowed_.size()) {
      add(shown("OMP_NUM_THREADS") + " and " + affinity(),
          "threads take turns on " + std::to_string(allowed_.size()) +
              (allowed_.size() == 1 ? " processor" : " processors"),
          "give " + option("--threads ") + std::to_string(allowed_.size()) + " or more processors");
    }
  }

  void batch_system() {
    const char* const slurm =
        value("SLURM_MEM_BIND_TYPE") != nullptr ? "SLURM_MEM_BIND_TYPE" : "SLURM_MEM_BIND";
    const std::string* const bound = value(slurm);
    if (!ours_.memory.empty() && bound != nullptr && bound->find("none") == std::string::npos) {
      add(shown(slurm) + " and " + ours_.memory,
          ours_.memory + " wins: it is set after srun's policy",
          "leave " + ours_.memory + " out, or give srun --mem-bind=none");
    }
    const auto slurm_rank = number("SLURM_LOCALID");
    const auto hydra_rank = number("MPI_LOCALRANKID");
    if (ours_.by_rank && slurm_rank && hydra_rank && *slurm_rank != *hydra_rank) {
      add(shown("SLURM_LOCALID") + " and " + shown("MPI_LOCALRANKID"),
          "the rank is taken from SLURM_LOCALID, which processes of mpiexec inherit from its "
          "daemon",
          "under mpiexec start the program by env -u SLURM_LOCALID");
    }
  }

  const settings& said_;
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

std::vector<conflict> find_conflicts(const settings& said, const cpu_set& allowed,
                                     const intentions& ours) {
  return said.empty() ? std::vector<conflict>{} : finder(said, allowed, ours).find();
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
    if (!place) {
      return std::nullopt;
    }
    const auto how = from.take(':') ? read_repetition(from) : repetition{};
    if (!how) {
      return std::nullopt;
    }
    if (!excluded && !insert_repeated(all, *place, *how)) {
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
