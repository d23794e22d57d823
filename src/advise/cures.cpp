// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/cures.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <string>

namespace nodewise::advise {

namespace {

enum class language { unknown, c, cpp, fortran };

/// Values that fill the snippets.
struct subject {
  std::string array = "a"; ///< its symbol, if it has one
  std::string made;        ///< " // allocated at solver.c:41"
  std::string touched;     ///< " // in place of the loop at solver.c:52"
  language in = language::unknown;
  bool openmp = true;
  bool tbb = false;
  bool threads = false; ///< that the program itself starts
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

subject subject_of(const analysis& of, const std::vector<std::size_t>& sites) {
  subject made;
  if (sites.empty()) {
    return made;
  }
  const site& first = of.input.sites()[sites.front()];
  const profile::object& what = *of.input.items()[first.items.front()].what;
  const profile::program& program = of.input.program(first.program);
  made.tbb = program.tbb;
  const bool own_threads = std::ranges::any_of(
      program.threads, [](const auto& each) { return each.number.has_value(); });
  made.threads = own_threads && !program.has_runtime();
  made.openmp = program.openmp || !(program.tbb || made.threads);
  if (is_identifier(what.name)) {
    made.array = what.name;
  }
  const profile::frame* const own = profile::own_frame(what.made_at);
  if (own != nullptr && own->line > 0) {
    made.made = "allocated at " + profile::label_of(*own);
    made.in = language_of(own->file);
  }
  if (!what.touches.empty()) {
    const profile::frame* const toucher = profile::own_frame(what.touches.front().where);
    if (toucher != nullptr && toucher->line > 0) {
      made.touched = "first touched at " + profile::label_of(*toucher);
      made.in = language_of(toucher->file);
    }
  }
  return made;
}

std::string comment(const subject& of, const std::string& text) {
  return text.empty() ? "" : (of.in == language::fortran ? "! " : "// ") + text + "\n";
}

std::string openmp_loop(const subject& of, const std::string& schedule, const std::string& body) {
  if (of.in == language::fortran) {
    return "!$omp parallel do schedule(" + schedule + ")\ndo i = 1, n\n  " + of.array +
           "(i) = 0\nend do\n";
  }
  return "#pragma omp parallel for schedule(" + schedule +
         ")\nfor (size_t i = 0; i < n; ++i) {\n  " + body + "\n}\n";
}

std::string tbb_loop(const std::string& body) {
  return "tbb::parallel_for(tbb::blocked_range<std::size_t>(0, n),\n"
         "                  [&](const tbb::blocked_range<std::size_t>& part) {\n"
         "                    for (std::size_t i = part.begin(); i < part.end(); ++i) {\n"
         "                      " +
         body +
         "\n                    }\n"
         "                  },\n"
         "                  tbb::static_partitioner()); // the working loops, too\n";
}

std::string thread_loop(const std::string& body) {
  return "// in thread k of each team, which then works on the same part\n"
         "for (size_t i = n * k / threads; i < n * (k + 1) / threads; ++i) {\n  " +
         body + "\n}\n";
}

/// A region of the library with this distribution.
cure region(const subject& of, const std::string& what, const std::string& distribution) {
  return {"Nodewise", what,
          comment(of, of.made) +
              "const auto machine = nodewise::topology::system();\n"
              "const nodewise::team_layout team(machine, nodewise::bind_policy::close,\n"
              "                                 threads);\n"
              "const nodewise::region memory(n * sizeof(T),\n"
              "                              " +
              distribution + ");\nT* " + of.array + " = reinterpret_cast<T*>(memory.data());\n"};
}

/// The library's classes are for C++.
bool takes_cpp(const subject& of) {
  return of.in == language::cpp || of.in == language::unknown;
}

cure with_plan() {
  return {"command", "place it from outside, in the program as it is",
          "nodewise run --plan FILE --verify -- PROGRAM\n"};
}

void add_loops(const subject& of, std::vector<cure>& into, const std::string& what,
               const std::string& schedule, const std::string& body) {
  const std::string note = comment(of, of.touched);
  if (of.openmp) {
    into.push_back({"OpenMP", what, note + openmp_loop(of, schedule, body)});
  }
  if (of.threads) {
    into.push_back({"threads", what, note + thread_loop(body)});
  }
  if (of.tbb) {
    into.push_back({"oneTBB", what, note + tbb_loop(body)});
  }
}

std::vector<cure> touch_in_parallel(const subject& of, const std::string& what) {
  std::vector<cure> all;
  add_loops(of, all, what, "static", of.array + "[i] = 0;");
  if (takes_cpp(of)) {
    all.push_back(
        region(of, "place it before anybody touches it", "nodewise::blocked(team.owners())"));
  }
  return all;
}

std::vector<cure> construct_in_parallel(const subject& of) {
  std::vector<cure> all;
  if (of.in == language::cpp) {
    all.push_back({"C++",
                   "an allocator that leaves elements without a value, so that no constructor "
                   "touches them; then touch them in parallel",
                   comment(of, of.made) +
                       "template <class T>\nstruct untouched : std::allocator<T> {\n"
                       "  template <class U> struct rebind { using other = untouched<U>; };\n"
                       "  template <class U> void construct(U* at) { ::new (at) U; }\n"
                       "  template <class U, class... A> void construct(U* at, A&&... with) {\n"
                       "    ::new (at) U(std::forward<A>(with)...);\n  }\n};\n"
                       "std::vector<T, untouched<T>> " +
                       of.array + "(n);\n"});
  }
  std::vector<cure> more = touch_in_parallel(of, "then fill it with the working loop's schedule");
  std::ranges::move(more, std::back_inserter(all));
  return all;
}

std::vector<cure> interleave(const subject& of) {
  if (!takes_cpp(of)) {
    return {{"command", "pages in turn over the nodes: each memory serves its part",
             "nodewise run --memory interleave -- PROGRAM\n"}};
  }
  return {region(of, "pages in turn over the nodes: each memory serves its part",
                 "nodewise::block_cyclic(team.owners(), 1)")};
}

std::vector<cure> make_members_in_parallel(const subject& of) {
  std::vector<cure> all;
  add_loops(of, all,
            "make each object in the thread that will work on it, and hold pointers to them",
            "static", of.array + "[i] = new T(...); // its members are then near, too");
  return all;
}

std::vector<cure> whole_pages(const subject& of) {
  std::vector<cure> all;
  add_loops(
      of, all,
      "one block a thread, or chunks of several pages (static,512 are a page of doubles), and "
      "the same schedule where the array is first touched",
      "static", of.array + "[i] = 0;");
  return all;
}

std::vector<cure> static_work(const subject& of) {
  std::vector<cure> all;
  add_loops(
      of, all,
      "where the work of iterations is alike, a static schedule, also for the first touch; or "
      "hand chunks out node by node, local ones first",
      "static", of.array + "[i] = 0;");
  std::vector<cure> more = interleave(of);
  std::ranges::move(more, std::back_inserter(all));
  return all;
}

std::vector<cure> balance(const subject& of) {
  std::vector<cure> all;
  add_loops(of, all,
            "deal rows out in turn, in chunks of whole pages, and touch them first with the very "
            "same schedule",
            "static, rows", "work(i); // rows: of at least a page");
  return all;
}

cure pin() {
  return {"command", "pin the threads",
          "nodewise run --bind close -- PROGRAM\n# or\nexport OMP_PLACES=cores "
          "OMP_PROC_BIND=close\n"};
}

cure pad() {
  return {"C++", "give each thread's data a cache line of its own",
          "struct alignas(64) per_thread {\n  double value; // in C: _Alignas(64)\n};\n"};
}

std::vector<cure> name_it(const subject& of) {
  const std::string with = of.in == language::cpp ? "C++" : "C";
  return {{with,
           "allocate arrays by malloc, new or mmap, a block for each array: what an allocator of "
           "the program's own or a system call of its own takes has no name",
           ""},
          {"command",
           "where a runtime pools its blocks, let it call malloc: for Python PYTHONMALLOC=malloc, "
           "for oneTBB a program without tbbmalloc",
           ""}};
}

std::vector<cure> off_the_stack(const subject& of) {
  std::vector<cure> all;
  if (of.openmp) {
    all.push_back({"OpenMP", "a copy for each thread, where they only read it",
                   of.in == language::fortran ? "!$omp parallel firstprivate(a)\n"
                                              : "#pragma omp parallel firstprivate(a)\n"});
  }
  all.push_back(of.in == language::fortran
                    ? cure{"Fortran", "allocate it: then a plan can place it",
                           "real(8), allocatable :: a(:)\nallocate (a(n))\n"}
                    : cure{of.in == language::cpp ? "C++" : "C",
                           "allocate it: then a plan can place it",
                           "double *a = malloc(n * sizeof *a); // in place of: double a[n];\n"});
  return all;
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
    return touch_in_parallel(of, "one schedule for the first touch and for the work");
  case pattern::constructor_touch:
    return construct_in_parallel(of);
  case pattern::growth:
    return {{"C++", "reserve the final size, then touch it in parallel, before filling it",
             of.array + ".reserve(n);\n"}};
  case pattern::dynamic_members:
    return make_members_in_parallel(of);
  case pattern::used_by_all:
    return interleave(of);
  case pattern::dynamic_schedule:
    return static_work(of);
  case pattern::small_chunks:
    return whole_pages(of);
  case pattern::nameless:
    return name_it(of);
  case pattern::thread_stacks:
    return off_the_stack(of);
  case pattern::own_placement:
    return {takes_cpp(of)
                ? region(of, "give it blocks of the threads of the loop that uses it",
                         "nodewise::blocked(team.owners())")
                : cure{"Nodewise", "give it blocks of the threads of the loop that uses it", ""}};
  case pattern::buffer_cache:
    return {{"command",
             "drop cached files before the run, or let the program that writes them do so",
             "sync; echo 1 > /proc/sys/vm/drop_caches   # as root\n"
             "posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED); // after fsync(fd)\n"}};
  case pattern::larger_than_node:
    return {{"command", "a process for each node, each bound to its node",
             "mpirun --map-by numa --bind-to numa nodewise run --memory local -- PROGRAM\n"}};
  case pattern::few_threads:
    return {{"command", "threads on all nodes, or pages over all nodes",
             "nodewise run --bind spread -- PROGRAM\nnodewise run --memory interleave -- "
             "PROGRAM\n"}};
  case pattern::unpinned_threads:
    return {pin()};
  case pattern::unbalanced_work:
    return balance(of);
  case pattern::false_sharing:
    return {pad()};
  }
  return {};
}

} // namespace

std::vector<cure> cures_for(const analysis& of, pattern what, const std::vector<std::size_t>& sites,
                            bool planned) {
  std::vector<cure> all = for_pattern(what, subject_of(of, sites));
  if (planned) {
    all.push_back(with_plan());
  }
  return all;
}

} // namespace nodewise::advise
