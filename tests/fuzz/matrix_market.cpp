// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A Matrix Market file: any number of workers reads the same entries or gives the same error, and
// no file announces more than it can hold.
#include <nodewise/matrix_market.hpp>

#include <cstring>

#include <nodewise/error.hpp>

#include "fuzz/fuzz.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  const std::string banner = "%%MatrixMarket matrix coordinate ";
  return {
      banner + "real general\n% a comment\n\n3 4 4\n1 1 1.5\n2 3 -2e1\n3 4 +4\n1 2 .5\n",
      banner + "integer symmetric\n3 3 3\n1 1 7\n3 1 -3\n3 3 9007199254740993\n",
      banner + "pattern general\r\n2 2 2\r\n1 2\r\n2 1",
      banner + "real skew-symmetric\n4 4 2\n2 1 5\n4 3 1e-300\n",
      banner + "double general\n1000000 2147483647 1\n1000000 2147483647 inf\n",
      banner + "real general\n2 2 1000000000\n1 1 1\n2 2 1\n",
  };
}

namespace {

constexpr std::uint64_t most = 2147483647;

/// What `parts` workers make of a text.
struct outcome {
  detail::matrix_file head;
  std::vector<detail::file_entry> entries;
  std::string refusal;
};

outcome read_in_parts(std::string_view text, std::size_t parts) {
  outcome made;
  std::vector<std::optional<detail::file_fault>> faults;
  try {
    made.head = detail::read_matrix_head(text, "a.mtx", most, 1e308);
    for (std::size_t part = 0; part < parts; ++part) {
      faults.push_back(detail::read_matrix_part(text, made.head, part, parts, made.entries));
    }
    detail::require_no_fault(text, made.head, faults, made.entries.size());
  } catch (const error& e) {
    fuzz::require(e.kind() == error_kind::input && !e.hint().empty());
    made.refusal = e.what();
  }
  return made;
}

/// The same bits: a value may be NaN.
bool equal(const detail::file_entry& a, const detail::file_entry& b) {
  return a.row == b.row && a.column == b.column &&
         std::memcmp(&a.value, &b.value, sizeof a.value) == 0;
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text(data, size);
  const outcome whole = read_in_parts(text, 1);
  for (const std::size_t parts : {2U, 3U, 16U}) {
    const outcome other = read_in_parts(text, parts);
    fuzz::require(other.refusal == whole.refusal);
    fuzz::require(!whole.refusal.empty() ||
                  std::ranges::equal(other.entries, whole.entries, equal));
  }
  if (!whole.refusal.empty()) {
    return 0;
  }
  const detail::matrix_file& head = whole.head;
  fuzz::require(head.rows > 0 && head.columns > 0 && head.rows <= most && head.columns <= most);
  fuzz::require(head.rows <= 1'000'000 + 100 * size); // a row takes memory without entries, too
  fuzz::require(whole.entries.size() == head.entries && head.entries <= size);
  for (const detail::file_entry& each : whole.entries) {
    fuzz::require(each.row < head.rows && each.column < head.columns);
    fuzz::require(head.symmetry == detail::matrix_file::halves::whole || each.column <= each.row);
  }
  return 0;
}
