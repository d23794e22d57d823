// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The hosts of a job as rows of text: where its threads and memory are.
#pragma once

#include <string>
#include <vector>

#include "survey/job.hpp"

namespace nodewise::cli {

/// Hosts that look the same: the first one, and the names of all.
struct host_pattern {
  const survey::surveyed_host* first = nullptr;
  std::vector<std::string> names;
};
/// The most frequent first.
[[nodiscard]] std::vector<host_pattern> patterns_of(const survey::job& of);

/// For each node of a host whose hardware is known: its number, its cores as a picture, the ranks
/// and the number of threads there, their memory, and the share of it whose rank has threads there.
[[nodiscard]] std::vector<std::vector<std::string>> host_rows(const survey::surveyed_host& host);

} // namespace nodewise::cli
