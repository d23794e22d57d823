// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "survey/job.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <nodewise/error.hpp>

#include "base/text.hpp"

namespace nodewise::survey {

namespace {

constexpr std::string_view unnamed_job = "-";
constexpr std::uint64_t longest_start = 600; // seconds between the first and the last rank's start

/// The ranks without a record, as far as their number is known.
std::vector<int> missing_of(const job& of) {
  std::set<int> there;
  for (const surveyed_host& host : of.hosts) {
    for (const rank_record* const rank : host.ranks) {
      there.insert(rank->rank);
    }
  }
  const int all = std::max(of.ranks.value_or(0), there.empty() ? 0 : *there.rbegin() + 1);
  std::vector<int> missing;
  for (int rank = 0; rank < all; ++rank) {
    if (!there.contains(rank)) {
      missing.push_back(rank);
    }
  }
  return missing;
}

} // namespace

std::size_t job::surveyed() const {
  std::size_t sum = 0;
  for (const surveyed_host& host : hosts) {
    sum += host.ranks.size();
  }
  return sum;
}

void job_builder::add(rank_record what, const std::string& place) {
  if (what.hardware) {
    const std::string id = id_of(*what.hardware);
    if (id != what.machine) {
      problems_.push_back(
          fmt::format("{}: the hardware in the record is not the machine {} that it names", place,
                      what.machine));
      what.hardware.reset();
    } else {
      hardware_.emplace(id, *what.hardware);
      devices_.emplace(what.host, what.devices);
    }
  }
  const std::pair key(what.job, what.rank);
  const auto found = ranks_.find(key);
  if (found == ranks_.end()) {
    ranks_.emplace(key, placed_record{std::move(what), place});
  } else if (found->second.record != what) {
    problems_.push_back(fmt::format("{}: rank {} has another record in {}, which is used", place,
                                    what.rank, found->second.place));
  }
}

std::set<std::string> job_builder::jobs() const {
  std::set<std::string> names;
  for (const auto& [key, its] : ranks_) {
    names.insert(key.first);
  }
  return names;
}

std::string job_builder::chosen_name(std::optional<std::string_view> name) const {
  const std::set<std::string> names = jobs();
  if (names.empty()) {
    throw error(error_kind::input, "the records of a job", "there is none",
                "name the folder or the output of a job that was run with "
                "`nodewise survey -- PROGRAM`");
  }
  if (name ? !names.contains(std::string(*name)) : names.size() > 1) {
    throw error(
        error_kind::input, name ? fmt::format("--job {}", *name) : "the records of a job",
        fmt::format("they belong to {}: {}", counted(names.size(), "job"), joined(names, ", ")),
        "choose one of these by --job, or name its records alone");
  }
  return name ? std::string(*name) : *names.begin();
}

/// Only those of the newest run, as far as the records differ.
std::vector<const job_builder::placed_record*> job_builder::records_of(job& into) const {
  std::vector<const placed_record*> all;
  const placed_record* newest = nullptr;
  for (const auto& [key, its] : ranks_) {
    if (key.first == into.name) {
      all.push_back(&its);
      newest = newest == nullptr || its.record.started > newest->record.started ? &its : newest;
    }
  }
  if (into.name == unnamed_job) {
    std::vector<int> older;
    std::erase_if(all, [&](const placed_record* each) {
      const bool is_older = each->record.started + longest_start < newest->record.started ||
                            each->record.ranks != newest->record.ranks;
      if (is_older) {
        older.push_back(each->record.rank);
      }
      return is_older;
    });
    if (!older.empty()) {
      into.problems.push_back(fmt::format("records of an earlier run are left out: {} {}",
                                          older.size() == 1 ? "rank" : "ranks",
                                          ranks_text(older, 8)));
    }
  }
  return all;
}

job job_builder::build(std::optional<std::string_view> name) const {
  job made;
  made.name = chosen_name(name);
  made.problems = problems_;
  std::map<std::string, surveyed_host> hosts;
  for (const placed_record* const its : records_of(made)) {
    const rank_record& rank = its->record;
    surveyed_host& host = hosts[rank.host];
    if (!host.ranks.empty() && host.machine != rank.machine) {
      made.problems.push_back(fmt::format("{}: rank {} reports another machine than rank {} on {}",
                                          its->place, rank.rank, host.ranks.front()->rank,
                                          rank.host));
    } else {
      host.machine = rank.machine;
    }
    host.ranks.push_back(&rank);
    made.launcher = made.launcher.empty() ? rank.launcher : made.launcher;
    if (rank.ranks) {
      made.ranks = std::max(made.ranks.value_or(0), *rank.ranks);
    }
  }
  for (auto& [host_name, host] : hosts) {
    host.name = host_name;
    const auto hardware = hardware_.find(host.machine);
    const auto devices = devices_.find(host_name);
    host.hardware = hardware == hardware_.end() ? nullptr : &hardware->second;
    host.devices = devices == devices_.end() ? nullptr : &devices->second;
    made.hosts.push_back(std::move(host));
  }
  std::ranges::sort(made.hosts, is_before, &surveyed_host::name);
  made.missing = missing_of(made);
  return made;
}

} // namespace nodewise::survey
