// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Small blocks that come and go: map, list and string.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <list>
#include <map>
#include <string>

int main() {
  std::map<std::uint32_t, std::string> table;
  std::list<std::string> recent;
  std::uint32_t state = 1;
  std::size_t total = 0;
  for (int i = 0; i < 600000; ++i) {
    state = state * 1664525U + 1013904223U;
    std::string& text = table[state >> 16];
    text.assign(20 + (state >> 8 & 31), 'x');
    recent.push_back(text + "y");
    if (recent.size() > 10000) {
      total += recent.front().size();
      recent.pop_front();
    }
    if (table.size() > 30000) {
      table.erase(table.begin());
    }
  }
  std::printf("%zu\n", total);
  return 0;
}
