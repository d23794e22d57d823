// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "symbols/code_map.hpp"

namespace nodewise::symbols {

/// A place in machine code, and in the source as far as somebody knows it.
struct chain_frame {
  std::string module;       ///< the file's last part; empty where no code is mapped
  std::uint64_t offset = 0; ///< from the module's lowest mapped address; without module the address
  std::string function;     ///< demangled; empty where nobody knows
  std::string file;         ///< as the compiler recorded it
  int line = 0;             ///< 0 where nobody knows
  bool inlined = false;     ///< the next frame has the same code, which this was inlined into
  friend bool operator==(const chain_frame&, const chain_frame&) = default;
};

/// Turns addresses into names, and keeps what files say. Not for several threads at once.
class chain_namer {
 public:
  chain_namer();
  chain_namer(chain_namer&&) noexcept;
  chain_namer& operator=(chain_namer&&) noexcept;
  ~chain_namer();

  /// Innermost first, inlined functions included. Of addresses all but the first are returns, as of
  /// `unwinder::chain`: they keep their offset, and are named by the byte before.
  [[nodiscard]] std::vector<chain_frame> frames(const code_map& code,
                                                std::span<const std::uint64_t> addresses);
  /// Of one address.
  [[nodiscard]] std::vector<chain_frame> frames_of(const code_map& code, std::uint64_t address,
                                                   bool is_return);

 private:
  class files;
  std::unique_ptr<files> files_;
};

} // namespace nodewise::symbols
