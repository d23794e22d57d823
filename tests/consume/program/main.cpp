// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What a user's first program looks like: memory in one block a node, filled, and asked where it
// is.
#include <cstdio>
#include <cstring>
#include <vector>

#include <nodewise/nodewise.hpp>

int main() {
  const auto machine = nodewise::topology::system();
  std::vector<nodewise::node_id> owners;
  for (const auto& domain : machine.domains()) {
    owners.push_back(domain.node);
  }
  const nodewise::region memory(64 << 20, nodewise::blocked(owners));
  std::memset(memory.data(), 1, memory.size_bytes());
  const nodewise::residency where = memory.residency();
  std::printf("nodewise %s: %zu pages on %zu nodes, %zu where they were asked for\n",
              nodewise::library_version(), where.pages, owners.size(), where.on_owner);
  return where.on_owner == where.resident ? 0 : 1;
}
