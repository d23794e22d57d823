// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/patterns.hpp"

#include <cctype>
#include <tuple>

#include "symbols/names.hpp"

namespace nodewise::advise {

namespace {

std::string thread_name(const analysis_input& of, std::size_t w) {
  const worker& each = of.workers[w];
  return each.ordinal == 0 ? "the main thread" : fmt::format("thread {}", each.ordinal);
}

bool is_identifier(const std::string& name) {
  const auto fits = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
  return !name.empty() && std::ranges::all_of(name, fits);
}

language language_of(const std::string& file) {
  const std::string ending = file.substr(file.rfind('.') + 1);
  if (ending == "c" || ending == "h") {
    return language::c;
  }
  const bool fortran = !ending.empty() && (ending.front() == 'f' || ending.front() == 'F');
  return fortran ? language::fortran : language::cpp;
}

/// Lines of the program with more than a trifle of all: "cg.c:33, cg.c:34 and cg.c:38"; empty if
/// no line is known.
std::string main_places(const std::vector<code_share>& code) {
  constexpr double trifle = 0.05;
  std::vector<std::string> places;
  for (const code_share& each : code) {
    if (each.where.line > 0 && each.share >= trifle) {
      places.push_back(profile::label_of(each.where));
    }
  }
  return places.empty() ? "" : list_of(places);
}

std::string openmp_loop(const subject& of, const char* schedule, const std::string& body) {
  return of.is_fortran() ? fmt::format("!$omp parallel do schedule({})\ndo i = 1, n\n"
                                       "  {}(i) = 0\nend do\n",
                                       schedule, of.array)
                         : fmt::format("#pragma omp parallel for schedule({})\n"
                                       "for (size_t i = 0; i < n; ++i) {{\n  {}\n}}\n",
                                       schedule, body);
}

std::string tbb_loop(const std::string& body) {
  return fmt::format("tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n),\n"
                     "                  [&](const tbb::blocked_range<std::size_t>& part) {{\n"
                     "                    for (std::size_t i = part.begin(); i < part.end(); ++i) "
                     "{{\n"
                     "                      {}\n"
                     "                    }}\n"
                     "                  }},\n"
                     "                  tbb::static_partitioner()); // the working loops, too\n",
                     body);
}

std::string thread_loop(const std::string& body) {
  return fmt::format("// in thread k of each team, which then works on the same part\n"
                     "for (size_t i = n * k / threads; i < n * (k + 1) / threads; ++i) {{\n"
                     "  {}\n}}\n",
                     body);
}

} // namespace

const std::array<detector, patterns>& detectors() {
#define NODEWISE_PATTERN(name) name,
  static const std::array<detector, patterns> all = {NODEWISE_PATTERNS(NODEWISE_PATTERN)};
#undef NODEWISE_PATTERN
  return all;
}

std::string missing_evidence(const analysis_input& of, unsigned needs) {
  const profile::evidence& seen = of.profile.seen;
  const bool touches =
      std::ranges::any_of(of.items, [](const item& each) { return !each.what->touched.empty(); });
  const bool threads =
      std::ranges::any_of(of.workers, [](const worker& each) { return each.home != nowhere; });
  const std::tuple<unsigned, bool, const char*> all[] = {
      {needs_faults, seen.faults || touches, "first touches were not observed"},
      {needs_uses, !of.assumed, "uses of memory were not observed"},
      {needs_objects, !of.items.empty(), "no object of the program was observed"},
      {needs_memory, !of.profile.memory.empty(), "the free memory of nodes was not observed"},
      {needs_counts, seen.counts, "writes to cache lines are counted only in the lab"},
      {needs_threads, threads, "the nodes of threads were not observed"},
  };
  for (const auto& [need, is_there, missing] : all) {
    if ((needs & need) != 0 && !is_there) {
      return missing;
    }
  }
  return "";
}

bool is_worth_a_look(const analysis_input& of, const site& which) {
  constexpr double of_traffic = 0.001;
  constexpr double large = 1U << 20U;
  const auto size = [&](std::size_t i) { return of.items[i].what->bytes; };
  return which.placeable &&
         (which.bytes >= of_traffic * of.bytes || sum_over(which.items, size) >= large);
}

positions sites_in_use(const analysis& of) {
  const std::vector<char> all(of.sites.size(), 1);
  return sites_where(of, all, [](const item& what, const shape&) { return what.units > 0; });
}

std::string sharers_of(const analysis& of, const positions& sites) {
  return fmt::format("a page is used by {} threads on average, in shares that differ from page to "
                     "page",
                     number(mean_over(of, sites, &shape::sharers)));
}

bool is_serial(const item& what, const shape& how) {
  constexpr double mostly = 0.5;
  return what.units > 0 && how.touched_by_one() && how.on_one_node() && how.followed >= mostly &&
         how.remote >= some_remote;
}

std::string names_of(const analysis_input& of, const positions& sites) {
  std::vector<std::string> names;
  for (const std::size_t s : sites) {
    const site& each = of.sites[s];
    const std::string name = symbols::abbreviated(each.name);
    names.push_back(each.items.size() > 1 ? fmt::format("{} ({} objects)", name, each.items.size())
                                          : name);
  }
  return list_of(names);
}

const shape& greatest(const analysis& of, const positions& sites) {
  const auto bytes = [&](std::size_t i) { return of.items[i].bytes(); };
  return of.shapes[std::ranges::max(of.items_of(sites), {}, bytes)];
}

std::vector<std::string> usual_evidence(const analysis& of, const positions& sites) {
  std::vector<std::string> lines;
  const shape& most = greatest(of, sites);
  if (most.toucher && most.one_thread > 0) {
    lines.push_back(
        fmt::format("{} of the observed pages were first touched by {}",
                    percent(mean_over(of, sites, &shape::one_thread)),
                    most.touched_by_one() ? thread_name(of, *most.toucher) : "one thread"));
  }
  if (most.memory != nowhere) {
    lines.push_back(fmt::format("{} of the pages are on node {}",
                                percent(mean_over(of, sites, &shape::on_memory)),
                                of.number_of(most.memory)));
  }
  if (of.assumed) {
    lines.emplace_back("its uses were not observed");
    return lines;
  }
  lines.push_back(fmt::format(
      "{} on {} use it; {} of its traffic is remote", counted(most.using_threads, "thread"),
      counted(most.using_nodes, "node"), percent(mean_over(of, sites, &shape::remote))));
  if (of.bytes > 0) {
    lines.push_back(fmt::format("it makes up {} of the program's traffic",
                                percent(bytes_moved(of, sites) / of.bytes)));
  }
  return lines;
}

std::vector<std::string> usual_doubts(const analysis& of, const positions& sites) {
  std::vector<std::string> lines;
  const double followed = mean_over(of, sites, &shape::followed);
  constexpr double nearly_all = 0.95;
  if (followed < nearly_all) {
    lines.push_back(fmt::format("{} of the pages are not where first touch puts them: the node was "
                                "full, the memory had a policy, or the kernel moved them",
                                percent(1 - followed)));
  }
  const profile::evidence& seen = of.profile.seen;
  if (seen.pages_moved > 0) {
    lines.push_back(fmt::format("the kernel moved {} while the program was observed: pages are "
                                "shown where they were at the end",
                                counted(seen.pages_moved, "page")));
  }
  if (of.sampled) {
    lines.emplace_back("uses are samples of the kernel's NUMA balancing: pages that are used often "
                       "and pages that are used seldom look alike");
  }
  if (seen.lost_samples > 0) {
    lines.push_back(fmt::format("the kernel lost {}", counted(seen.lost_samples, "sample")));
  }
  return lines;
}

suspicion usual(const analysis& of, const positions& sites, std::string_view problem,
                const unusual& more) {
  suspicion made{.title = fmt::format("{}: {}", names_of(of, sites), problem),
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.evidence.insert(made.evidence.begin(), more.first);
  made.evidence.push_back(more.last);
  made.remarks.push_back(more.remark);
  std::erase(made.evidence, "");
  std::erase(made.remarks, "");
  return made;
}

const profile::frame* first_toucher(const profile::object& what) {
  return what.touches.empty() ? nullptr : profile::own_frame(what.touches.front().where);
}

subject subject_of(const analysis& of, const positions& sites, const finding& wrong) {
  subject made;
  if (sites.empty()) {
    return made;
  }
  const profile::object& what = of.first_object(sites.front());
  const profile::program& program = of.program(of.sites[sites.front()].program);
  made.tbb = program.tbb;
  const bool own_threads = std::ranges::any_of(
      program.threads, [](const auto& each) { return each.number.has_value(); });
  made.threads = own_threads && !program.has_runtime();
  made.openmp = program.openmp || !(program.tbb || made.threads);
  if (is_identifier(what.name)) {
    made.array = what.name;
  }
  const profile::frame* const own = profile::own_frame(what.made_at);
  const profile::frame* const toucher = first_toucher(what);
  for (const profile::frame* const code : {own, toucher}) {
    made.in = code != nullptr && code->line > 0 ? language_of(code->file) : made.in;
  }
  const char* const mark = made.is_fortran() ? "!" : "//";
  if (sites.size() > 1 || !is_identifier(what.name)) {
    made.touched = fmt::format("{} {} stands for {}{}\n", mark, made.array,
                               sites.size() > 1 ? "each of " : "", names_of(of, sites));
  }
  if (own != nullptr && own->line > 0) {
    made.made = fmt::format("{} allocated at {}\n", mark, profile::label_of(*own));
  }
  for (const auto& [what_is, code] :
       {std::pair("first touched", &wrong.first_touched), std::pair("used", &wrong.used)}) {
    if (const std::string places = main_places(*code); !places.empty()) {
      made.touched += fmt::format("{} {} at {}\n", mark, what_is, places);
    }
  }
  return made;
}

std::vector<cure> loops(const subject& of, const std::string& what, const char* schedule,
                        const std::string& body) {
  std::vector<cure> all;
  if (of.openmp) {
    all.push_back({"OpenMP", what, of.touched + openmp_loop(of, schedule, body)});
  }
  if (of.threads) {
    all.push_back({"threads", what, of.touched + thread_loop(body)});
  }
  if (of.tbb) {
    all.push_back({"oneTBB", what, of.touched + tbb_loop(body)});
  }
  return all;
}

std::vector<cure> first_touch_loops(const subject& of, const remedy& with) {
  return loops(of, with.what, "static", of.array + "[i] = 0;");
}

cure region(const subject& of, const std::string& what, const char* distribution) {
  return {"Nodewise", what,
          fmt::format("{}const auto machine = nodewise::topology::system();\n"
                      "const nodewise::team_layout team(machine, nodewise::bind_policy::close,\n"
                      "                                 threads);\n"
                      "const nodewise::region memory(n * sizeof(T),\n"
                      "                              {});\n"
                      "T* {} = reinterpret_cast<T*>(memory.data());\n",
                      of.made, distribution, of.array)};
}

std::vector<cure> touch_in_parallel(const subject& of, const remedy& with) {
  std::vector<cure> all = first_touch_loops(of, with);
  if (of.takes_cpp()) {
    all.push_back(
        region(of, "place it before any thread touches it", "nodewise::blocked(team.owners())"));
  }
  return all;
}

std::vector<cure> interleave(const subject& of, const remedy& with) {
  return {of.takes_cpp() ? region(of, with.what, "nodewise::block_cyclic(team.owners(), 1)")
                         : cure{"command", with.what, with.code}};
}

std::vector<cure> command(const subject& /*of*/, const remedy& with) {
  return {{"command", with.what, with.code}};
}

} // namespace nodewise::advise
