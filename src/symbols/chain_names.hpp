// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "symbols/module.hpp"
#include "symbols/thread_state.hpp"

namespace nodewise::symbols {

/// A place in machine code, and in the source as far as it is known.
struct chain_frame {
  std::string module;       ///< the file's last part; empty if no code is mapped
  std::uint64_t offset = 0; ///< from the module's lowest mapped address; without module the address
  std::string function;     ///< demangled; empty if unknown
  std::string file;         ///< as the compiler recorded it
  int line = 0;             ///< 0 if unknown
  bool inlined = false;     ///< it was inlined into the next frame, which has the same code
  friend bool operator==(const chain_frame&, const chain_frame&) = default;
};

/// Turns addresses into names, and caches what it reads from files. Not thread-safe.
class chain_namer {
 public:
  /// Innermost first, inlined functions included. All addresses but the first are return addresses,
  /// as from `unwinder::chain`: they keep their offset, and the byte before gives the name.
  [[nodiscard]] std::vector<chain_frame> frames(const code_map& code,
                                                std::span<const std::uint64_t> addresses);
  /// The same for one address.
  [[nodiscard]] std::vector<chain_frame> frames_of(const code_map& code, std::uint64_t address,
                                                   bool is_return);

 private:
  struct known_file {
    std::optional<module> what;
    std::unordered_map<std::uint64_t, std::vector<source_place>> places; ///< by offset
  };
  [[nodiscard]] known_file& file_of(const std::string& path);

  std::unordered_map<std::string, known_file> files_; ///< by path
};

} // namespace nodewise::symbols
