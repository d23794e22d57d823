// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Machines for the targets of src/spec, and texts in its three syntaxes.
#pragma once

#include <numeric>
#include <string>
#include <string_view>
#include <vector>

#include <nodewise/topology.hpp>

#include "unit/grid_machine.hpp"

namespace nodewise::fuzz {

/// One of several machines, by the text, so that an input says it all.
inline const topology& machine_for(std::string_view text) {
  static const std::vector<topology> machines = [] {
    std::vector<topology> all;
    const std::string data = NODEWISE_TEST_DATA;
    all.push_back(topology::from_xml(data + "/24em64t-2n6c2t-pci.xml"));
    all.push_back(topology::from_xml(data + "/8intel64-knl-a2a-hybrid.xml"));
    all.push_back(topology::from_xml(data + "/16amd64-8n2c-cpusets.xml"));
    all.push_back(topology::from_xml(data + "/fakeheterodistances.xml"));
    all.push_back(topology::synthetic("2x4x2"));
    all.emplace_back(test::grid(4, 2, 1, {7, 63, 64, 255}));
    all.emplace_back(test::grid(4, 2, 2), cpu_set::parse("2-5,9,14"),
                     node_set{node_id{1}, node_id{2}});
    all.emplace_back(machine{}); // nothing at all
    return all;
  }();
  const unsigned sum = std::accumulate(text.begin(), text.end(), 0U, [](unsigned all, char c) {
    return all * 31 + static_cast<unsigned char>(c);
  });
  return machines[sum % machines.size()];
}

inline std::vector<std::string> spec_seeds() {
  return {"0-3,8",
          "+0-1",
          "!+0",
          "all",
          "!0,2-3",
          "netdev:eth0",
          "near:pci=0000:3b:00.0",
          "pci:3b:00.0",
          "block:sda",
          "package:1.core:0-3",
          "package:all.core:odd.pu:0",
          "numa[hbm]:0",
          "numa:0:4",
          "core:2- ~pu:0 x0xff ^l3:0",
          "socket:even.node:0",
          "0xff,0x0",
          "0x0000000f",
          "os=eth0",
          "pci=0000:02:00.0",
          "root ~core[cpukind=1]:all",
          "L1i:0.l2:0",
          "machine",
          "S0:0-3@S1:0-3",
          "E:N:4:2:4",
          "E:M0:10:1:2:1",
          "M:scatter:4",
          "S:balanced:4",
          "C:cbalanced",
          "L:S0:3-0,1",
          "D1@C0:0",
          "M0@M1"};
}

} // namespace nodewise::fuzz
