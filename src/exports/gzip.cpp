// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "exports/gzip.hpp"

#include <algorithm>
#include <array>
#include <new>

#include <zlib.h>

namespace nodewise::exports {

namespace {

constexpr int gzip_window = 15 + 16; // 32 KiB, and gzip's header in place of zlib's
constexpr int memory_level = 8;      // zlib's own default
constexpr std::size_t piece_bytes = std::size_t{1} << 16;

} // namespace

std::string gzip(std::string_view data) {
  z_stream state{};
  if (deflateInit2(&state, Z_DEFAULT_COMPRESSION, Z_DEFLATED, gzip_window, memory_level,
                   Z_DEFAULT_STRATEGY) != Z_OK) {
    throw std::bad_alloc();
  }
  std::string out;
  std::array<char, piece_bytes> piece{};
  int end = Z_OK;
  while (end != Z_STREAM_END) {
    if (state.avail_in == 0) { // zlib counts in 32 bits
      const std::size_t some = std::min(data.size(), std::size_t{1} << 30);
      // zlib does not change its input, but its type does not say so
      state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(data.data()));
      state.avail_in = static_cast<uInt>(some);
      data.remove_prefix(some);
    }
    state.next_out = reinterpret_cast<Bytef*>(piece.data());
    state.avail_out = static_cast<uInt>(piece.size());
    end = deflate(&state, data.empty() ? Z_FINISH : Z_NO_FLUSH);
    out.append(piece.data(), piece.size() - state.avail_out);
  }
  deflateEnd(&state);
  return out;
}

} // namespace nodewise::exports
