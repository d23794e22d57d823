// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/chain_names.hpp"

#include <optional>
#include <unordered_map>
#include <utility>

#include "symbols/module.hpp"
#include "symbols/names.hpp"

namespace nodewise::symbols {

/// What was opened so far, by path.
class chain_namer::files {
 public:
  struct known_file {
    std::optional<module> what;
    /// By the offset asked for.
    std::unordered_map<std::uint64_t, std::vector<source_place>> places;
  };

  known_file& of(const std::string& name) {
    const auto [at, is_new] = by_name_.try_emplace(name);
    if (is_new && name.starts_with('/')) {
      at->second.what = module::open(name);
    }
    return at->second;
  }

 private:
  std::unordered_map<std::string, known_file> by_name_;
};

chain_namer::chain_namer() : files_(std::make_unique<files>()) {}
chain_namer::chain_namer(chain_namer&&) noexcept = default;
chain_namer& chain_namer::operator=(chain_namer&&) noexcept = default;
chain_namer::~chain_namer() = default;

std::vector<chain_frame> chain_namer::frames(const code_map& code,
                                             std::span<const std::uint64_t> addresses) {
  std::vector<chain_frame> all;
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    for (chain_frame& f : frames_of(code, addresses[i], i != 0)) {
      all.push_back(std::move(f));
    }
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
  files::known_file& file = files_->of(where->file);
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
  std::vector<chain_frame> all(known->second.size(), frame);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const source_place& place = known->second[i];
    all[i].function = place.function;
    all[i].file = place.file;
    all[i].line = place.line;
    all[i].inlined = i + 1 < all.size();
  }
  return all;
}

} // namespace nodewise::symbols
