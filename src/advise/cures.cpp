// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/cures.hpp"

#include <algorithm>
#include <cctype>
#include <string>

#include <fmt/core.h>

namespace nodewise::advise {

namespace {

enum class language { unknown, c, cpp, fortran };

/// Values that fill the snippets.
struct subject {
  std::string array = "a"; ///< its symbol, if it has one
  std::string made;        ///< a comment, "// allocated at solver.c:41\n", or empty
  std::string touched;     ///< a comment, "// first touched at solver.c:52\n", or empty
  language in = language::unknown;
  bool openmp = true;
  bool tbb = false;
  bool threads = false; ///< that the program itself starts

  [[nodiscard]] bool is_fortran() const { return in == language::fortran; }
  /// The library's classes are for C++.
  [[nodiscard]] bool takes_cpp() const { return in == language::cpp || in == language::unknown; }
  [[nodiscard]] std::string c_or_cpp() const { return in == language::cpp ? "C++" : "C"; }
};

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

/// A loop for each of the program's runtimes.
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

/// A region of the library with this distribution.
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

std::vector<cure> construct_in_parallel(const subject& of) {
  std::vector<cure> all = touch_in_parallel(of, "then fill it with the working loop's schedule");
  if (of.in == language::cpp) {
    all.insert(all.begin(),
               {"C++",
                "use an allocator that leaves elements without a value, so that no constructor "
                "touches them; then touch them in parallel",
                fmt::format("{}template <class T>\nstruct untouched : std::allocator<T> {{\n"
                            "  template <class U> struct rebind {{ using other = untouched<U>; "
                            "}};\n"
                            "  template <class U> void construct(U* at) {{ ::new (at) U; }}\n"
                            "  template <class U, class... A> void construct(U* at, A&&... with) "
                            "{{\n"
                            "    ::new (at) U(std::forward<A>(with)...);\n  }}\n}};\n"
                            "std::vector<T, untouched<T>> {}(n);\n",
                            of.made, of.array)});
  }
  return all;
}

cure interleave(const subject& of) {
  constexpr const char* what = "pages in turn over the nodes: each memory serves its part";
  return of.takes_cpp() ? region(of, what, "nodewise::block_cyclic(team.owners(), 1)")
                        : cure{"command", what, "nodewise run --memory interleave -- PROGRAM\n"};
}

std::vector<cure> static_work(const subject& of) {
  std::vector<cure> all = first_touch_loops(
      of, "if all iterations do the same work, use a static schedule, also for the first touch; or "
          "hand out chunks node by node, local ones first");
  all.push_back(interleave(of));
  return all;
}

std::vector<cure> name_it(const subject& of) {
  return {{of.c_or_cpp(),
           "allocate each array as a block of its own, by malloc, new or mmap: memory from the "
           "program's own allocator or system calls has no name",
           ""},
          {"command",
           "if a runtime pools its blocks, let it call malloc: for Python PYTHONMALLOC=malloc, for "
           "oneTBB a program without tbbmalloc",
           ""}};
}

std::vector<cure> off_the_stack(const subject& of) {
  constexpr const char* what = "allocate it: then a plan can place it";
  std::vector<cure> all;
  if (of.openmp) {
    all.push_back({"OpenMP", "use a copy for each thread, if they only read it",
                   of.is_fortran() ? "!$omp parallel firstprivate(a)\n"
                                   : "#pragma omp parallel firstprivate(a)\n"});
  }
  all.push_back(of.is_fortran()
                    ? cure{"Fortran", what, "real(8), allocatable :: a(:)\nallocate (a(n))\n"}
                    : cure{of.c_or_cpp(), what,
                           "double *a = malloc(n * sizeof *a); // in place of: double a[n];\n"});
  return all;
}

cure place_by_users(const subject& of) {
  constexpr const char* what = "place it in blocks, by the threads of the loop that uses it";
  return of.takes_cpp() ? region(of, what, "nodewise::blocked(team.owners())")
                        : cure{"Nodewise", what, ""};
}

std::vector<cure> for_pattern(pattern what, const subject& of) {
  switch (what) {
  case pattern::serial_initialisation:
  case pattern::partly_parallel:
  case pattern::static_arrays:
    return touch_in_parallel(of, "touch it first with the working loop's schedule");
  case pattern::serial_file_read:
    return touch_in_parallel(of, "touch it in parallel, then read the file into it");
  case pattern::sparse_matrix:
    return touch_in_parallel(of, "touch val, col_idx and the result by rows, with the schedule of "
                                 "the product, before filling them");
  case pattern::different_schedules:
    return touch_in_parallel(of, "use one schedule for the first touch and for the work");
  case pattern::constructor_touch:
    return construct_in_parallel(of);
  case pattern::growth:
    return {{"C++", "reserve the final size, then touch it in parallel, before filling it",
             of.array + ".reserve(n);\n"}};
  case pattern::dynamic_members:
    return loops(of,
                 "make each object in the thread that will work on it, and hold pointers to "
                 "them",
                 "static", of.array + "[i] = new T(...); // its members are then local, too");
  case pattern::used_by_all:
    return {interleave(of)};
  case pattern::dynamic_schedule:
    return static_work(of);
  case pattern::small_chunks:
    return first_touch_loops(of,
                             "one block per thread, or chunks of several pages (static,512 is a "
                             "page of doubles), and the same schedule for the first touch");
  case pattern::nameless:
    return name_it(of);
  case pattern::thread_stacks:
    return off_the_stack(of);
  case pattern::own_placement:
    return {place_by_users(of)};
  case pattern::buffer_cache:
    return {{"command",
             "drop cached files before the run, or let the program that writes them do so",
             "sync; echo 1 > /proc/sys/vm/drop_caches   # as root\n"
             "posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); // after fsync(fd)\n"}};
  case pattern::larger_than_node:
    return {{"command", "run a process for each node, each bound to its node",
             "mpirun --map-by numa --bind-to numa nodewise run --memory local -- PROGRAM\n"}};
  case pattern::few_threads:
    return {{"command", "use threads on all nodes, or pages on all nodes",
             "nodewise run --bind spread -- PROGRAM\n"
             "nodewise run --memory interleave -- PROGRAM\n"}};
  case pattern::unpinned_threads:
    return {{"command", "pin the threads",
             "nodewise run --bind close -- PROGRAM\n# or\n"
             "export OMP_PLACES=cores OMP_PROC_BIND=close\n"}};
  case pattern::unbalanced_work:
    return loops(of,
                 "deal out rows in turn, in chunks of whole pages, and touch them first with "
                 "the same schedule",
                 "static, rows", "work(i); // rows: of at least a page");
  case pattern::false_sharing:
    return {{"C++", "give each thread's data a cache line of its own",
             "struct alignas(64) per_thread {\n  double value; // in C: _Alignas(64)\n};\n"}};
  }
  return {};
}

} // namespace

std::vector<cure> cures_for(const analysis& of, pattern what, const positions& sites,
                            bool planned) {
  std::vector<cure> all = for_pattern(what, subject_of(of, sites));
  if (planned) {
    all.push_back({"command", "place it from outside, without changing the program",
                   "nodewise run --plan FILE --verify -- PROGRAM\n"});
  }
  return all;
}

} // namespace nodewise::advise
