// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What one rank of a job reports: its host, the processors that its launcher gave it, where its
// threads ran and where its memory was. A record is one line of JSON (docs/clusters.md).
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include <nodewise/machine.hpp>

namespace nodewise {
class json_field;
}

namespace nodewise::survey {

/// What a record says of a host's hardware: enough to judge where threads and pages are.
struct host_machine {
  struct node {
    node_id id = unknown_node;
    cpu_set cpus;     ///< empty for a memory-only node
    int package = -1; ///< of its processors; -1 if unknown
    friend bool operator==(const node&, const node&) = default;
  };
  std::vector<node> nodes;    ///< ascending by id
  std::vector<cpu_set> cores; ///< the hardware threads of each core
  friend bool operator==(const host_machine&, const host_machine&) = default;

  [[nodiscard]] cpu_set cpus() const;
  [[nodiscard]] node_set nodes_of(const cpu_set& cpus) const;
};
[[nodiscard]] host_machine host_machine_of(const machine& all);
/// The same for machines with the same nodes, packages and cores: 16 hexadecimal digits.
[[nodiscard]] std::string id_of(const host_machine& which);

/// A thread that worked. Threads that used less than a fiftieth of the busiest one's time are only
/// counted: runtimes have such helpers.
struct worker {
  cpu_set allowed;           ///< the processors of its mask when it was seen last
  cpu_set ran;               ///< the processors on which it was seen
  std::uint64_t busy_ms = 0; ///< processor time
  friend bool operator==(const worker&, const worker&) = default;
};

/// A network or GPU device and the nodes nearest to it.
struct near_device {
  std::string name;
  std::string kind; ///< as `device::kind`
  node_set nodes;
  friend bool operator==(const near_device&, const near_device&) = default;
};

struct rank_record {
  std::string job;      ///< the launcher's name for the job; "-" if it has none
  std::string launcher; ///< "openmpi", "hydra", "slurm", "pals", "flux", "pmix"; empty if unknown
  int rank = 0;
  std::optional<int> ranks;  ///< in the job
  std::optional<int> local;  ///< rank on its host
  std::uint64_t started = 0; ///< seconds since 1970, by the host's clock
  std::string host;
  std::string machine;                  ///< `id_of` the host's
  std::optional<host_machine> hardware; ///< one record of each host has it
  std::vector<near_device> devices;     ///< likewise
  std::string command;
  std::optional<int> exit_code;
  std::optional<int> signal; ///< that ended it
  cpu_set allowed;           ///< the launcher's mask
  std::vector<worker> workers;
  std::size_t helpers = 0; ///< threads that hardly worked
  /// Bytes of large arrays by node. Memory that was freed and allocated again at the same address
  /// counts once.
  std::map<node_id, std::uint64_t> bytes;
  std::uint64_t unknown_bytes = 0;             ///< in memory, but the node is unknown
  std::map<std::string, std::string> settings; ///< of kernel and environment, by name

  friend bool operator==(const rank_record&, const rank_record&) = default;
};

inline constexpr std::string_view record_schema = "nodewise/survey-record/1";

[[nodiscard]] nlohmann::ordered_json record_json(const rank_record& what);
/// The same as one line of ASCII without its end.
[[nodiscard]] std::string record_text(const rank_record& what);
/// Both throw `error` (input) that names the invalid field.
[[nodiscard]] rank_record record_from_json(const json_field& from);
[[nodiscard]] rank_record read_record(std::string_view text);

} // namespace nodewise::survey
