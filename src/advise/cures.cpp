// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/cures.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/core.h>

namespace nodewise::advise {

namespace {

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

subject subject_of(const analysis& of, const positions& sites) {
  subject made;
  if (sites.empty()) {
    return made;
  }
  const profile::object& what = of.input.first_object(sites.front());
  const profile::program& program = of.input.program(of.input.sites()[sites.front()].program);
  made.tbb = program.tbb;
  const bool own_threads = std::ranges::any_of(
      program.threads, [](const auto& each) { return each.number.has_value(); });
  made.threads = own_threads && !program.has_runtime();
  made.openmp = program.openmp || !(program.tbb || made.threads);
  if (is_identifier(what.name)) {
    made.array = what.name;
  }
  const profile::frame* const own = profile::own_frame(what.made_at);
  const profile::frame* const toucher =
      what.touches.empty() ? nullptr : profile::own_frame(what.touches.front().where);
  for (const profile::frame* const code : {own, toucher}) {
    made.in = code != nullptr && code->line > 0 ? language_of(code->file) : made.in;
  }
  const auto comment = [&](const char* what_is, const profile::frame* code) {
    return code == nullptr || code->line <= 0
               ? std::string()
               : fmt::format("{} {} at {}\n", made.is_fortran() ? "!" : "//", what_is,
                             profile::label_of(*code));
  };
  made.made = comment("allocated", own);
  made.touched = comment("first touched", toucher);
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

std::vector<cure> first_touch_loops(const subject& of, const std::string& what) {
  return loops(of, what, "static", of.array + "[i] = 0;");
}

cure region(const subject& of, const char* what, const char* distribution) {
  return {"Nodewise", what,
          fmt::format("{}const auto machine = nodewise::topology::system();\n"
                      "const nodewise::team_layout team(machine, nodewise::bind_policy::close,\n"
                      "                                 threads);\n"
                      "const nodewise::region memory(n * sizeof(T),\n"
                      "                              {});\n"
                      "T* {} = reinterpret_cast<T*>(memory.data());\n",
                      of.made, distribution, of.array)};
}

std::vector<cure> touch_in_parallel(const subject& of, const std::string& what) {
  std::vector<cure> all = first_touch_loops(of, what);
  if (of.takes_cpp()) {
    all.push_back(
        region(of, "place it before any thread touches it", "nodewise::blocked(team.owners())"));
  }
  return all;
}

cure interleave(const subject& of) {
  constexpr const char* what = "pages in turn over the nodes: each memory serves its part";
  return of.takes_cpp() ? region(of, what, "nodewise::block_cyclic(team.owners(), 1)")
                        : cure{"command", what, "nodewise run --memory interleave -- PROGRAM\n"};
}

} // namespace nodewise::advise
