// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// agent_overhead [CASE]: small blocks that come and go (map, list and string); `large`: large ones
// that are filled; `fread`: a file in small pieces into a small buffer; `read`: one in pages into a
// large array.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <list>
#include <map>
#include <string>
#include <string_view>

#include <fcntl.h>
#include <unistd.h>

namespace {

constexpr std::size_t mib = std::size_t{1} << 20;

std::size_t churn() {
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
  return total;
}

std::size_t fill_large() {
  std::size_t total = 0;
  for (int i = 0; i < 400; ++i) {
    auto* const block = static_cast<char*>(std::malloc(8 * mib));
    std::memset(block, i, 8 * mib);
    asm volatile("" : : "r"(block) : "memory"); // somebody may read it
    total += static_cast<unsigned char>(block[mib]);
    std::free(block);
  }
  return total;
}

std::size_t read_items() {
  std::FILE* const file = std::fopen("/dev/zero", "r");
  char item[64];
  std::size_t total = 0;
  for (int i = 0; i < 20000000; ++i) {
    total += std::fread(item, 1, sizeof item, file);
  }
  std::fclose(file);
  return total;
}

std::size_t read_pages() {
  const int file = ::open("/dev/zero", O_RDONLY);
  auto* const array = static_cast<char*>(std::malloc(64 * mib));
  std::size_t total = 0;
  for (int turn = 0; turn < 20; ++turn) {
    for (std::size_t at = 0; at < 64 * mib; at += 4096) {
      total += static_cast<std::size_t>(::read(file, array + at, 4096));
    }
  }
  std::free(array);
  return total;
}

} // namespace

int main(int argc, char** argv) {
  const std::string_view which = argc > 1 ? argv[1] : "";
  std::printf("%zu\n", which == "large"   ? fill_large()
                       : which == "fread" ? read_items()
                       : which == "read"  ? read_pages()
                                          : churn());
  return 0;
}
