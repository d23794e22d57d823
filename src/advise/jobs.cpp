// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "advise/jobs.hpp"

#include <algorithm>

#include <fmt/core.h>

#include <nodewise/error.hpp>

#include "base/counted.hpp"

namespace nodewise::advise {

namespace {

/// Whether one parent started the same program more than once, mostly at the same time.
bool ran_together(const profile::program& a, const profile::program& b) {
  const double overlap = std::min(a.ended_s, b.ended_s) - std::max(a.began_s, b.began_s);
  const double shorter = std::min(a.ended_s - a.began_s, b.ended_s - b.began_s);
  return a.parent != 0 && a.parent == b.parent && a.name == b.name && a.build_id == b.build_id &&
         overlap > shorter / 2;
}

} // namespace

std::vector<std::vector<std::size_t>> jobs_of(const profile::profile& of) {
  std::vector<std::vector<std::size_t>> jobs;
  for (std::size_t p = 0; p < of.programs.size(); ++p) {
    const profile::program& one = of.programs[p];
    const auto same = std::ranges::find_if(jobs, [&](const std::vector<std::size_t>& job) {
      const profile::program& first = of.programs[job.front()];
      return (one.rank && first.rank) || ran_together(one, first);
    });
    if (same != jobs.end()) {
      same->push_back(p);
    } else {
      jobs.push_back({p});
    }
  }
  return jobs;
}

std::vector<std::size_t> job_of(const profile::profile& of, std::size_t program) {
  for (const std::vector<std::size_t>& job : jobs_of(of)) {
    if (std::ranges::find(job, program) != job.end()) {
      return job;
    }
  }
  throw error(error_kind::usage, fmt::format("making a plan for program {}", program),
              fmt::format("the profile has {}", counted(of.programs.size(), "program")),
              "choose one of these");
}

} // namespace nodewise::advise
