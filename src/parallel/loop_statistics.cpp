// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include <nodewise/schedule.hpp>

namespace nodewise::inline v0 {

std::string to_string(const loop_statistics& of) {
  const auto chunks = of.chunks_local + of.chunks_stolen;
  std::string text =
      std::to_string(chunks) + " chunks, " + std::to_string(of.chunks_stolen) + " stolen";
  if (const auto share = of.locality()) {
    char figures[64];
    const double mib = static_cast<double>(of.bytes_local + of.bytes_stolen) / (1 << 20);
    std::snprintf(figures, sizeof figures, "; %.1f %% of %.1f MiB at home", 100 * *share, mib);
    text += figures;
  }
  return text;
}

} // namespace nodewise::inline v0
