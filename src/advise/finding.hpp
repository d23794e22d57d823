// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What is wrong with a program's placement, the evidence, the remedy, the plan, and what they are
// worth.
#pragma once

#include "advise/pattern_list.hpp"
#include "plan/plan.hpp"
#include "profile/profile.hpp"

namespace nodewise::advise {

/// The known problems; in files and reports their names have hyphens or spaces.
#define NODEWISE_PATTERN(name) name,
enum class pattern { NODEWISE_PATTERNS(NODEWISE_PATTERN) };
#undef NODEWISE_PATTERN
#define NODEWISE_PATTERN(name) +1
inline constexpr std::size_t patterns = NODEWISE_PATTERNS(NODEWISE_PATTERN);
#undef NODEWISE_PATTERN
/// "serial-initialisation": the form in files.
[[nodiscard]] std::string to_string(pattern what);
/// "serial initialisation": the form for people.
[[nodiscard]] std::string name_of(pattern what);

/// Objects of one program that are reported together: those of one place in the code, or a single
/// one.
struct named_objects {
  std::size_t program = 0;        ///< position in `profile::programs`
  std::vector<std::uint64_t> ids; ///< ascending
  std::string name;               ///< "a", or where it is allocated: "solver.c:41"
  std::uint64_t bytes = 0;        ///< of all of them
  double share = 0;               ///< 0..1 of the program's traffic; 0 where no use was observed
  double remote = 0;              ///< 0..1 of the objects' own traffic
};

/// A place in the code, and its share of the touches or uses.
struct code_share {
  profile::frame where;
  double share = 0; ///< 0..1
};

struct cure {
  std::string with; ///< "OpenMP", "oneTBB", "threads", "C++", "Nodewise", "command"
  std::string what; ///< a sentence
  std::string code; ///< text to paste; empty if the sentence is enough
};

/// What a remedy is worth by the model: predicted, never measured.
struct gain {
  enum class kind {
    predicted,
    at_most,    ///< a bound: `note` explains it
    unavailable ///< `note` says why
  };
  kind how = kind::predicted;
  double ratio = 1; ///< time now over time after
  double low = 1;   ///< with machine figures 10 % off, and the error of sampled evidence
  double high = 1;
  std::optional<double> before_s; ///< only where traffic and machine have absolute figures
  std::optional<double> after_s;
  std::string binds_before; ///< "memory of node 0"; empty if unknown
  std::string binds_after;
  std::string note;
};

/// A smaller gain is within the variation between runs.
inline constexpr double least_gain = 1.02;
/// If the low end of a gain is below this, the program might become slower.
inline constexpr double no_slower = 2 - least_gain;
/// A bound that rests on an assumption counts like a prediction; an unavailable gain always counts.
[[nodiscard]] inline bool is_worth_it(const gain& of) {
  return of.how == gain::kind::unavailable || of.ratio >= least_gain;
}

struct finding {
  pattern what = pattern::serial_initialisation;
  std::string title; ///< a sentence
  std::vector<named_objects> objects;
  std::vector<std::string> evidence;     ///< a line each, with numbers
  std::vector<code_share> first_touched; ///< most pages first
  std::vector<code_share> used;          ///< most used first
  std::vector<cure> cures;               ///< most important first
  std::vector<plans::entry> entries;     ///< what the plan does about it; may be empty
  gain worth;
  std::vector<std::string> remarks; ///< doubts, and contradicting evidence
};

/// A problem that exists but is not worth the work.
struct dismissal {
  pattern what = pattern::serial_initialisation;
  std::vector<named_objects> objects;
  gain worth;
  std::string reason; ///< a sentence
};

/// A pattern that could not be checked.
struct unexamined {
  pattern what = pattern::serial_initialisation;
  std::string missing; ///< "uses of memory were not observed"
  friend bool operator==(const unexamined&, const unexamined&) = default;
};

/// What the model predicts for a program's traffic in a placement.
struct outcome {
  std::optional<double> remote;  ///< 0..1 of the traffic whose memory is known
  std::optional<double> seconds; ///< only where traffic and machine have absolute figures
  std::string binds;             ///< "memory of node 0"; empty if nothing was observed
  /// The same for the whole run with initialisation; only if that was counted.
  std::optional<double> whole_remote = {};
  std::optional<double> whole_seconds = {};
};

/// What to do for the binary of a program.
struct proposal {
  std::size_t program = 0; ///< position in `profile::programs`
  plans::plan_file plan;
  outcome before;
  outcome after; ///< predicted
  gain worth;
  /// For several ranks of one binary: why the plan is for the first rank only; empty if for all.
  std::string disagreement;
  /// Set if the plan makes initialisation slower: how often the program must repeat the observed
  /// phase of use for the plan to pay off. Empty: it pays off at once.
  std::optional<double> pays_from = {};
  bool rebinds = false;             ///< the plan moves threads to other nodes
  std::vector<std::string> remarks; ///< what the plan leaves out or is unsure of
  std::string refused;              ///< why it is not offered; empty if it is offered
};

// Numbers and lists in the form that sentences use.

/// "75 %", "0.3 %".
[[nodiscard]] std::string percent(double share);
/// "1.93", "12.4", "104".
[[nodiscard]] std::string number(double value);
/// "512 MiB", "1.5 GiB", "100 B".
[[nodiscard]] std::string bytes_text(double bytes);
/// "a, b and c"; for more than four "a, b, c and 5 more".
[[nodiscard]] std::string list_of(const std::vector<std::string>& names);

} // namespace nodewise::advise
