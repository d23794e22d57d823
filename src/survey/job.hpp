// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A job: the records of its ranks, by host.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "survey/record.hpp"

namespace nodewise::survey {

struct surveyed_host {
  std::string name;
  std::string machine;                               ///< `id_of` its hardware
  const host_machine* hardware = nullptr;            ///< nullptr if no record has it
  const std::vector<near_device>* devices = nullptr; ///< nullptr if no record has them
  std::vector<const rank_record*> ranks;             ///< ascending by rank
};

struct job {
  std::string name;
  std::string launcher;
  std::optional<int> ranks;          ///< as the launcher says
  std::vector<int> missing;          ///< ranks without a record, ascending
  std::vector<surveyed_host> hosts;  ///< in the order of their names; "n9" comes before "n10"
  std::vector<std::string> problems; ///< sentences about records that were not used

  /// Ranks with a record.
  [[nodiscard]] std::size_t surveyed() const;
};

/// Takes records one by one and makes the job of them.
class job_builder {
 public:
  /// `place` is where the record was read, for messages. A second record of a rank is ignored if it
  /// is the same; otherwise the first one counts, and a problem is noted.
  void add(rank_record what, const std::string& place);

  /// The jobs of the records so far.
  [[nodiscard]] std::set<std::string> jobs() const;
  [[nodiscard]] bool empty() const noexcept { return ranks_.empty(); }

  /// `name`: of the job if there are several. Of a job without a name, records of an earlier run in
  /// the same folder are left out, with a problem noted. Refers to the builder's records, which
  /// must outlive it. Throws `error` (input) if there is no record, or records of several jobs.
  [[nodiscard]] job build(std::optional<std::string_view> name = std::nullopt) const;

 private:
  struct placed_record {
    rank_record record;
    std::string place;
  };
  [[nodiscard]] std::string chosen_name(std::optional<std::string_view> name) const;
  [[nodiscard]] std::vector<const placed_record*> records_of(job& into) const;

  std::map<std::pair<std::string, int>, placed_record> ranks_; ///< by job and rank
  std::map<std::string, host_machine> hardware_;               ///< by its id
  std::map<std::string, std::vector<near_device>> devices_;    ///< by host
  std::vector<std::string> problems_;
};

/// Whether a name comes before another: numbers in them are compared as numbers.
[[nodiscard]] bool is_before(std::string_view one, std::string_view other);

/// "n1-n4, n7, login": names that differ in their last number by one are joined. At most `most`
/// parts, then "and 12 more".
[[nodiscard]] std::string names_text(const std::vector<std::string>& names, std::size_t most);
/// "0-3, 8": likewise for ranks, which must ascend.
[[nodiscard]] std::string ranks_text(const std::vector<int>& ranks, std::size_t most);
/// "node 1", "nodes 0-3".
[[nodiscard]] std::string nodes_text(const node_set& nodes);

} // namespace nodewise::survey
