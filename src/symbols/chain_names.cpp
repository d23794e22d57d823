// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/chain_names.hpp"

#include <algorithm>
#include <iterator>

#include "symbols/names.hpp"

namespace nodewise::symbols {

chain_namer::known_file& chain_namer::file_of(const std::string& path) {
  const auto [at, is_new] = files_.try_emplace(path);
  if (is_new && path.starts_with('/')) {
    at->second.what = module::open(path);
  }
  return at->second;
}

std::vector<chain_frame> chain_namer::frames(const code_map& code,
                                             std::span<const std::uint64_t> addresses) {
  std::vector<chain_frame> all;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    std::ranges::move(frames_of(code, addresses[i], i != 0), std::back_inserter(all));
  }
  return all;
}

std::vector<chain_frame> chain_namer::frames_of(const code_map& code, std::uint64_t address,
                                                bool is_return) {
  chain_frame frame;
  frame.offset = address;
  const std::uint64_t back = is_return ? 1 : 0;
  const code_mapping* const where = code.at(address - back);
  if (where == nullptr) {
    return {frame};
  }
  const std::uint64_t inside = address - back - where->start;
  frame.module = last_part(where->file);
  frame.offset = inside + back;
  known_file& file = file_of(where->file);
  const auto offset = file.what ? file.what->offset_at(inside + where->file_offset) : std::nullopt;
  if (!offset) {
    return {frame};
  }
  frame.offset = *offset + back;
  const auto [known, is_new] = file.places.try_emplace(*offset);
  if (is_new) {
    known->second = file.what->inlined_places(*offset);
  }
  if (known->second.empty()) {
    return {frame};
  }
  std::vector<chain_frame> all;
  for (const source_place& place : known->second) {
    all.push_back({frame.module, frame.offset, place.function, place.file, place.line, true});
  }
  all.back().inlined = false;
  return all;
}

} // namespace nodewise::symbols
