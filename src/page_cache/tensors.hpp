// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Where the tensors of a model are in its file.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sys/cached_file.hpp"

namespace nodewise::page_cache {

/// Its bytes from the beginning of the file: first..last, half-open.
struct tensor {
  std::string name;
  std::uint64_t first = 0;
  std::uint64_t last = 0;
};

/// The tensors of a GGUF file (versions 2 and 3) or a safetensors file, ascending by their first
/// byte; nullopt if it is neither. In GGUF a tensor ends where the next one begins: only alignment
/// is between them. Formats: ggml's docs/gguf.md, and the README of safetensors. `path` is for
/// errors. Throws `error` (input) for a damaged header, or a tensor outside of the file.
[[nodiscard]] std::optional<std::vector<tensor>> read_tensors(const sys::cached_file& file,
                                                              const std::string& path);

} // namespace nodewise::page_cache
