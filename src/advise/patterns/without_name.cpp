// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Far traffic that belongs to no array: memory that no watched function allocated, and stacks whose
// data other threads use. No plan can place either.

#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

double remote_of_sites(const analysis& of, const positions& sites) {
  return remote_bytes(of, of.items_of(sites));
}

double all_remote_bytes(const analysis& of) {
  return sum_over(of.sites, [&](const site& each) { return remote_bytes(of, each.items); });
}

positions sites_of(const analysis& of, profile::object_kind kind) {
  return positions_where(of.sites, [&](const site& each) {
    return of.items[each.items.front()].what->kind == kind && remote_bytes(of, each.items) > 0;
  });
}

/// Every program has less than this, from its start and the C library.
bool is_much(const analysis& of, const positions& sites) {
  constexpr double of_the_traffic = 0.05;
  constexpr double least_lines = 1U << 14U; // 1 MiB of 64-byte lines
  constexpr double least_samples = 100;
  const double units = sum_over(
      of.items_of(sites), [&](std::size_t i) { return of.shapes[i].remote * of.items[i].units; });
  return remote_of_sites(of, sites) >= of_the_traffic * of.bytes &&
         units >= (of.sampled ? least_samples : least_lines);
}

positions nameless_sites(const analysis& of, const std::vector<char>&) {
  constexpr double of_the_remote = 0.2;
  const positions found = sites_of(of, profile::object_kind::other);
  const bool is_part = remote_of_sites(of, found) > of_the_remote * all_remote_bytes(of);
  return is_part && is_much(of, found) ? found : positions();
}

positions thread_stacks_sites(const analysis& of, const std::vector<char>&) {
  positions found = sites_of(of, profile::object_kind::stack);
  std::erase_if(found, [&](std::size_t s) {
    return remote_bytes(of, of.sites[s].items) < some_remote * of.sites[s].bytes;
  });
  return is_much(of, found) ? found : positions();
}

/// The gain if all of these sites' traffic were near.
gain worth_if_near(const analysis& of, const positions& sites) {
  flow_of_time now = empty_flow(of, of.swept);
  flow_of_time these = empty_flow(of, of.swept);
  flow_of_time after = empty_flow(of, of.swept);
  for (std::size_t i = 0; i < of.items.size(); ++i) {
    const item& each = of.items[i];
    const bool is_one = std::ranges::find(sites, each.site) != sites.end();
    add_in_time(of, i, each.now, of.swept, now);
    add_in_time(of, i, each.now, of.swept, is_one ? these : after);
  }
  const flow_of_time near = all_local(of, these);
  for (std::size_t piece = 0; piece < after.size(); ++piece) {
    after[piece].add(near[piece]);
  }
  gain made = worth_of_placing(of, {std::move(now)}, {std::move(after)}, samples_of(of, sites));
  if (made.how == gain::kind::predicted) {
    made.how = gain::kind::at_most;
    made.note = "if all of it were local";
  }
  return made;
}

std::vector<std::string> evidence_of(const analysis& of, const positions& sites) {
  std::vector<std::string> lines = usual_evidence(of, sites);
  const double all = all_remote_bytes(of);
  constexpr std::size_t most = 4;
  for (std::size_t k = 0; k < std::min(most, sites.size()); ++k) {
    lines.push_back(fmt::format("{}: {} of the remote traffic", names_of(of, {sites[k]}),
                                percent(remote_of_sites(of, {sites[k]}) / all)));
  }
  return lines;
}

suspicion describe_nameless(const analysis& of, const positions& sites) {
  const double share = remote_of_sites(of, sites) / all_remote_bytes(of);
  return {.title = fmt::format("{} of the remote traffic goes to memory without a name: it belongs "
                               "to no known array of the program",
                               percent(share)),
          .evidence = evidence_of(of, sites),
          .remarks = {"these have a name: blocks of malloc and new, of 16 KiB or more, or several "
                      "that one line allocates; static arrays; stacks"},
          .worth = worth_if_near(of, sites)};
}

suspicion describe_thread_stacks(const analysis& of, const positions& sites) {
  return {.title = "threads on other nodes use data on a thread's stack, or its thread-local data",
          .evidence = evidence_of(of, sites),
          .remarks = {"a stack is in its thread's memory; no plan places it elsewhere"},
          .worth = worth_if_near(of, sites)};
}

std::vector<cure> nameless_cures(const subject& of, const remedy& /*with*/) {
  return {{of.c_or_cpp(),
           "allocate each array as a block of its own, by malloc, new or mmap: memory from the "
           "program's own allocator or system calls has no name",
           ""},
          {"command",
           "if a runtime pools its blocks, let it call malloc: for Python PYTHONMALLOC=malloc, for "
           "oneTBB a program without tbbmalloc",
           ""}};
}

std::vector<cure> thread_stacks_cures(const subject& of, const remedy& /*with*/) {
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

} // namespace

const detector nameless(pattern::nameless, needs_uses | needs_objects, nameless_sites,
                        describe_nameless, nameless_cures, {}, scope::program);

const detector thread_stacks(pattern::thread_stacks, needs_uses | needs_objects,
                             thread_stacks_sites, describe_thread_stacks, thread_stacks_cures, {},
                             scope::program);

} // namespace nodewise::advise
