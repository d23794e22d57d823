// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Tasks that any thread takes, wherever their data are.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

/// In a few sweeps, a page has too few users to see chance page by page. Then the blocks decide:
/// those of a static schedule have an owner by their place.
bool by_chance(const shape& how) {
  constexpr double least_in_blocks = 0.25;
  return how.using_nodes > 1 && !how.owned && !how.steady &&
         (how.anyones() || (how.in_blocks < least_in_blocks && (how.in_runs || !how.ordered)));
}

positions far_tasks_sites(const analysis& of, const std::vector<char>& free) {
  if (of.sampled) { // samples differ from page to page anyway
    return {};
  }
  positions sites =
      sites_where(of, free, [](const item&, const shape& how) { return by_chance(how); });
  std::erase_if(sites, [&](std::size_t s) {
    const site& each = of.sites[s];
    return !of.program(each.program).tasks ||
           remote_bytes(of, each.items) < some_remote * each.bytes;
  });
  return sites;
}

suspicion describe_far_tasks(const analysis& of, const positions& sites) {
  suspicion made = usual(
      of, sites, "tasks run far from their data: any thread takes any task",
      {.first = "the program starts tasks", .last = sharers_of(of, sites), .remark = in_step});
  const flow_of_time now = flow_under(of, {}, of.swept);
  flow_of_time near = all_local(of, now);
  average(peers_in(of, {}), near);
  made.worth = worth_of(of, {now}, {std::move(near)}, samples_of(of, sites));
  if (made.worth->how == gain::kind::predicted) {
    made.worth->how = gain::kind::at_most;
    made.worth->note =
        "if each task runs on the node of its data, and the data are in equal blocks "
        "on all nodes";
  }
  return made;
}

cure spawn_at_data(const subject& of) {
  return {"Nodewise", "place the data in blocks, and spawn each task where its data are",
          fmt::format("#include <nodewise/openmp.hpp>\n"
                      "#include <nodewise/tasks.hpp>\n\n"
                      "{}nodewise::openmp_teams teams;\n"
                      "nodewise::array<T> {}(n, teams.blocked());\n"
                      "nodewise::run_tasks(teams, [&](nodewise::task_group& group) {{\n"
                      "  for (std::size_t i = 0; i < n; i += piece) {{\n"
                      "    group.spawn({}, i, [&, i] {{ work({}, i, std::min(i + piece, n)); }});\n"
                      "  }}\n"
                      "}});\n",
                      of.made, of.array, of.array, of.array)};
}

std::vector<cure> far_tasks_cures(const subject& of, const remedy& with) {
  std::vector<cure> all;
  if (of.takes_cpp()) {
    all.push_back(spawn_at_data(of));
  }
  all.push_back({"OpenMP", with.what, with.code});
  return all;
}

} // namespace

const detector far_tasks(
    pattern::far_tasks, needs_uses | needs_objects, far_tasks_sites, describe_far_tasks,
    far_tasks_cures,
    {"one team of threads for each node, which makes and runs the tasks of its own block, also for "
     "the first touch",
     "#pragma omp parallel num_threads(nodes) proc_bind(spread) // OMP_MAX_ACTIVE_LEVELS=2\n"
     "{ // block: of this node\n"
     "#pragma omp parallel num_threads(threads_per_node) proc_bind(close)\n"
     "#pragma omp single\n"
     "  tasks_of(block);\n"
     "}\n"});

} // namespace nodewise::advise
