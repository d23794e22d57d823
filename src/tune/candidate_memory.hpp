// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What --memory a race tries on a machine.
#pragma once

#include <string>

#include <nodewise/topology.hpp>

namespace nodewise::tune {

enum class memory_way { local, interleave, blocked, cyclic, weighted, fast };

/// The value of --memory; empty for `local`, and if the way means nothing else than `local` or
/// `interleave` on this machine.
[[nodiscard]] std::string memory_option(memory_way way, const topology& on);

} // namespace nodewise::tune
