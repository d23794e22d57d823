// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <fmt/core.h>

#include <nodewise/schedule.hpp>

namespace nodewise::inline v0 {

std::string to_string(const loop_statistics& of) {
  const std::string chunks =
      fmt::format("{} chunks, {} stolen", of.chunks_local + of.chunks_stolen, of.chunks_stolen);
  const double mib = static_cast<double>(of.bytes_local + of.bytes_stolen) / (1 << 20);
  const auto share = of.locality();
  return share ? fmt::format("{}; {:.1f} % of {:.1f} MiB at home", chunks, 100 * *share, mib)
               : chunks;
}

} // namespace nodewise::inline v0
