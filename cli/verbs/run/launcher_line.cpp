// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The line of a launcher that places ranks and threads as the options do. Every rank is planned,
// and options of the launcher are printed only if they give each rank the planned processors.
#include <algorithm>
#include <functional>
#include <utility>

#include <fmt/format.h>

#include "base/numbers.hpp"
#include "base/text.hpp"
#include "cli/frame/terminal.hpp"
#include "cli/verbs/run/flags.hpp"
#include "launch/mask_text.hpp"
#include "survey/launcher.hpp"

namespace nodewise::cli {

namespace {

using cpu_lists = std::vector<cpu_set>;

/// --for, read.
struct wanted_launcher {
  std::string shown;    ///< "--for openmpi"
  std::string launcher; ///< as in the table of launchers
  std::optional<int> ranks;
};

[[noreturn]] void cannot_express(const wanted_launcher& wanted, const std::string& what,
                                 const std::string& hint) {
  throw error(error_kind::usage, wanted.shown,
              fmt::format("{} cannot express {}", survey::words_of(wanted.launcher).name, what),
              hint.empty() ? "start nodewise run by the launcher, with its binding switched off "
                             "(share/doc/nodewise/run.md, 'MPI ranks')"
                           : hint);
}

wanted_launcher read_launcher(const invocation& given) {
  const std::string_view text = given.text(flags::for_launcher).value_or("");
  const std::string_view name = text.substr(0, text.find(':'));
  wanted_launcher made{fmt::format("--for {}", text), std::string(name), std::nullopt};
  if (name == "mpich") {
    made.launcher = "hydra"; // its mpiexec
  } else if (name != "openmpi" && name != "slurm") {
    throw error(error_kind::usage, made.shown, fmt::format("{} is not a launcher", in_quotes(name)),
                "write openmpi, slurm or mpich");
  }
  if (name.size() != text.size()) {
    made.ranks = parse_number<int>(text.substr(name.size() + 1));
    constexpr int most = 1 << 13;
    if (!made.ranks || *made.ranks < 1 || *made.ranks > most) {
      throw error(error_kind::usage, made.shown, "it has no number of ranks behind the colon",
                  fmt::format("write the ranks on each host: {}:8", name));
    }
  }
  if (!given.has(flags::dry_run) || !given.has(flags::ranks_per)) {
    const flag& missing = given.has(flags::dry_run) ? flags::ranks_per : flags::dry_run;
    throw error(error_kind::usage, fmt::format("{} without {}", made.shown, option_name(missing)),
                "it prints a line for ranks and starts nothing",
                fmt::format("add {}", missing.value.empty() ? "--dry-run" : "--ranks-per node"));
  }
  return made;
}

std::vector<launch::plan> plans_of_ranks(launch::run_options options, const topology& here,
                                         std::optional<int> ranks) {
  options.as_rank = local_rank{0, ranks, ""};
  std::vector<launch::plan> plans = {launch::make_plan(options, here)};
  const int all = ranks.value_or(static_cast<int>(plans.front().rank_parts));
  for (int rank = 1; rank < all; ++rank) {
    options.as_rank = local_rank{rank, all, ""};
    plans.push_back(launch::make_plan(options, here));
  }
  return plans;
}

/// Those of a rank, which --ranks-per always chooses.
cpu_set cpus_of(const launch::plan& rank) {
  return rank.affinity.value_or(cpu_set{});
}

/// Places of these processors by their lowest numbers, as the runtimes of OpenMP count them.
cpu_lists places_in(const topology& here, const cpu_set& cpus, place_kind kind) {
  cpu_lists places = topology(here.machine(), cpus, here.allowed_nodes()).places(kind);
  std::ranges::sort(places, {}, &cpu_set::first);
  return places;
}

std::string value_of(const launch::plan& what, std::string_view variable) {
  const auto found = std::ranges::find(what.variables, variable, &launch::variable::name);
  return found == what.variables.end() ? "" : found->value.value_or("");
}

/// The variables of OpenMP that suit all ranks.
std::vector<launch::variable> common_variables(const wanted_launcher& wanted, const topology& here,
                                               const std::vector<launch::plan>& ranks) {
  std::vector<launch::variable> made;
  const std::string threads = value_of(ranks.front(), "OMP_NUM_THREADS");
  for (const launch::plan& each : ranks) {
    if (value_of(each, "OMP_NUM_THREADS") != threads) {
      cannot_express(wanted, "ranks with different numbers of threads", "give --threads");
    }
  }
  if (!threads.empty()) {
    made.push_back({"OMP_NUM_THREADS", threads});
  }
  if (!ranks.front().layout) {
    return made;
  }
  const auto is_every_thread_in_its_place = [&](place_kind kind) {
    return std::ranges::all_of(ranks, [&](const launch::plan& each) {
      return std::ranges::equal(each.layout->threads(), places_in(here, cpus_of(each), kind), {},
                                &thread_place::place);
    });
  };
  const bool by_core = is_every_thread_in_its_place(place_kind::cores);
  if (!by_core && !is_every_thread_in_its_place(place_kind::threads)) {
    cannot_express(wanted, "these places of threads: OMP_PLACES is the same for all ranks",
                   "give --places cores, and no more --threads than cores of a rank");
  }
  made.push_back({"OMP_PLACES", by_core ? "cores" : "threads"});
  made.push_back({"OMP_PROC_BIND", value_of(ranks.front(), "OMP_PROC_BIND")});
  return made;
}

/// Whether rank r has `width` neighbouring parts, from part r * width on.
bool are_runs(const std::vector<launch::plan>& ranks, const cpu_lists& parts, std::size_t width) {
  if (width == 0 || ranks.size() * width > parts.size()) {
    return false;
  }
  for (std::size_t rank = 0; rank < ranks.size(); ++rank) {
    cpu_set cpus;
    for (std::size_t part = rank * width; part < (rank + 1) * width; ++part) {
      cpus = std::move(cpus) | parts[part];
    }
    if (cpus != cpus_of(ranks[rank])) {
      return false;
    }
  }
  return true;
}

/// The first cores of each part; empty if one has fewer.
cpu_lists first_cores(const topology& here, const cpu_lists& parts, std::size_t of_each) {
  cpu_lists all;
  for (const cpu_set& part : parts) {
    const cpu_lists cores =
        topology(here.machine(), part, here.allowed_nodes()).places(place_kind::cores);
    if (cores.size() < of_each) {
      return {};
    }
    all.insert(all.end(), cores.begin(), cores.begin() + static_cast<std::ptrdiff_t>(of_each));
  }
  return all;
}

/// What launchers bind to, with the word that Open MPI and MPICH share.
struct bindable {
  const char* word;
  cpu_lists parts;
};

std::string openmpi_options(const wanted_launcher& wanted, const topology& here,
                            const std::vector<launch::plan>& ranks,
                            const std::vector<bindable>& whole, std::size_t cores) {
  const std::size_t count = ranks.size();
  for (const auto& [word, parts] : whole) {
    if (are_runs(ranks, parts, 1)) {
      const std::string map = count == parts.size() ? fmt::format("ppr:1:{}", word) : word;
      return fmt::format("--map-by {} --bind-to {}", map, word);
    }
  }
  for (const auto& [word, parts] : whole) {
    const std::size_t each = count % parts.size() == 0 ? count / parts.size() : 0;
    if (are_runs(ranks, first_cores(here, parts, each * cores), cores)) {
      return fmt::format("--map-by ppr:{}:{}:PE={} --bind-to core", each, word, cores);
    }
  }
  if (are_runs(ranks, here.places(place_kind::cores), cores)) {
    return fmt::format("--map-by slot:PE={} --bind-to core", cores);
  }
  cannot_express(wanted,
                 "the processors of these ranks: it gives each rank the same number of "
                 "neighbouring cores, with all their hardware threads",
                 here.machine().cpus().size() > here.machine().cores.size() && ranks.front().layout
                     ? "give --places cores"
                     : "");
}

std::string hydra_options(const topology& here, const std::vector<launch::plan>& ranks,
                          const std::vector<bindable>& whole, std::size_t cores) {
  for (const auto& [word, parts] : whole) {
    if (are_runs(ranks, parts, 1)) {
      return fmt::format("-bind-to {}", word);
    }
  }
  if (are_runs(ranks, here.places(place_kind::cores), cores)) {
    return fmt::format("-bind-to core:{}", cores);
  }
  return "-bind-to user:" + joined(ranks, ",", [](const launch::plan& each) {
           return joined(cpus_of(each), "+", [](cpu_id cpu) { return fmt::format("{}", cpu); });
         });
}

std::string slurm_options(const std::vector<launch::plan>& ranks) {
  std::string text = "--cpu-bind=mask_cpu:" + joined(ranks, ",", [](const launch::plan& each) {
                       return launch::mask_of(cpus_of(each));
                     });
  if (ranks.front().memory) {
    text += " --mem-bind=mask_mem:" + joined(ranks, ",", [](const launch::plan& each) {
              return launch::mask_of(each.memory->nodes);
            });
  }
  return text;
}

/// Everything but processors and threads, and Slurm's binding of memory.
void require_no_more(const wanted_launcher& wanted, const launch::plan& what) {
  const bool binds = what.memory && what.memory->mode == sys::policy::bind;
  if (what.memory && !(binds && wanted.launcher == "slurm")) {
    cannot_express(wanted,
                   fmt::format("the memory policy '{}'", launch::words_of(what.memory->mode).name),
                   binds ? "leave it out: pages of a bound rank come from its own node until that "
                           "is full"
                         : "");
  }
  if (what.agent && what.agent->places_memory()) {
    cannot_express(wanted, "placements of single arrays", "");
  }
  if (what.huge_pages || what.numa_balancing) {
    cannot_express(wanted, what.huge_pages ? "--huge-pages" : "--numa-balancing", "");
  }
}

std::string line_of(const wanted_launcher& wanted, const topology& here,
                    const std::vector<launch::plan>& ranks) {
  const std::vector<launch::variable> variables = common_variables(wanted, here, ranks);
  const auto assigned = [](const launch::variable& each) {
    return fmt::format("{}={}", each.name, *each.value);
  };
  cpu_lists nodes;
  for (const domain& each : here.domains()) {
    nodes.push_back(each.cpus);
  }
  std::vector<bindable> whole = {{"socket", here.places(place_kind::packages)}};
  if (nodes.size() == here.machine().nodes.size()) { // launchers also count those of memory only
    whole.insert(whole.begin(), {"numa", std::move(nodes)});
  }
  const std::size_t cores = places_in(here, cpus_of(ranks.front()), place_kind::cores).size();
  const std::string command = joined(ranks.front().command, " ", shell_word);
  if (wanted.launcher == "openmpi") { // it passes no variable on by itself
    const std::string options = openmpi_options(wanted, here, ranks, whole, cores);
    const std::string passed = joined(variables, "", [&](const launch::variable& each) {
      return fmt::format("-x {} ", assigned(each));
    });
    return fmt::format("mpirun -n {} {} {}{}\n", ranks.size(), options, passed, command);
  }
  const std::string set =
      joined(variables, "", [&](const launch::variable& each) { return assigned(each) + " "; });
  return wanted.launcher == "slurm"
             ? fmt::format("{}srun --ntasks-per-node={} {} {}\n", set, ranks.size(),
                           slurm_options(ranks), command)
             : fmt::format("{}mpiexec -n {} -ppn {} {} {}\n", set, ranks.size(), ranks.size(),
                           hydra_options(here, ranks, whole, cores), command);
}

} // namespace

int print_launcher_line(const invocation& given, const launch::run_options& options,
                        const topology& here) {
  const wanted_launcher wanted = read_launcher(given);
  const std::vector<launch::plan> ranks = plans_of_ranks(options, here, wanted.ranks);
  require_no_more(wanted, ranks.front());
  const std::string line = line_of(wanted, here, ranks);
  warn(ranks.front().warnings, given);
  const survey::launcher_words words = survey::words_of(wanted.launcher);
  std::string notes =
      fmt::format("# {}, {} on each host; the hosts must be like this one{}\n", words.name,
                  counted(ranks.size(), "rank"), words.tried ? "" : " (not tried by the authors)");
  if (wanted.launcher == "slurm") {
    notes += "# For a job with all processors of its hosts: salloc --exclusive, sbatch --exclusive.\n";
  } else if (wanted.launcher == "openmpi" &&
             !line.starts_with(fmt::format("mpirun -n {} --map-by ppr:", ranks.size()))) {
    notes += "# For one host: with several, Open MPI fills the first one first.\n";
  } else {
    notes += "# -n is for one host: multiply it by the number of hosts.\n";
  }
  if (ranks.front().layout) {
    notes += "# Threads that are not OpenMP's are bound to the processors of their rank only.\n";
  }
  write_out(notes + line);
  return exit_code::ok;
}

} // namespace nodewise::cli
