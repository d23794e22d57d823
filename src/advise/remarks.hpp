// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "advise/analysis_input.hpp"

namespace nodewise::advise {

/// Adds what concerns all advice: assumed figures of the machine, and traffic that the
/// prediction leaves out. Each sentence once.
void add_remarks(const analysis_input& of, std::vector<std::string>& into);

} // namespace nodewise::advise
