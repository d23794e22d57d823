// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Everything at once. Each header stands alone; take the ones you need.
#pragma once

#include <nodewise/advice.hpp>       // interleave or block, weights, chunks
#include <nodewise/arithmetic.hpp>   // which owner has which page: numbers only
#include <nodewise/distribution.hpp> // bound, blocked, block_cyclic, weighted, explicit_map
#include <nodewise/error.hpp>        // what was asked, what was answered, what to do
#include <nodewise/id.hpp>           // node_id, cpu_id
#include <nodewise/id_set.hpp>       // node_set, cpu_set
#include <nodewise/machine.hpp>      // the machine, as a value
#include <nodewise/placement.hpp>    // place, migrate, where are the pages
#include <nodewise/region.hpp>       // memory with a distribution
#include <nodewise/team_layout.hpp>  // which thread runs where
#include <nodewise/topology.hpp>     // the machine, and what this process may use of it
#include <nodewise/version.hpp>
