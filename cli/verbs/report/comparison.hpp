// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The sections of two profiles side by side.
#pragma once

#include <vector>

#include "cli/profiles/comparison.hpp"
#include "cli/verbs/report/kinds.hpp"

namespace nodewise::cli {

/// A file that `profile --compare` wrote. Throws `error` (input) naming what is wrong.
[[nodiscard]] compared_profiles compared_in(const json_field& document);

/// Arrays whose differences are worth drawing: those with some of the traffic in either profile.
/// All if no use was observed.
[[nodiscard]] std::vector<compared_site> sites_with_traffic(const compared_profiles& of);

void add_compared_remote(const compared_profiles& of, report_page& into);
/// With a picture of the arrays above the table.
void add_compared_arrays(const compared_profiles& of, drawing::picture what,
                         std::string_view caption, report_page& into);
void add_compared_findings(const compared_profiles& of, report_page& into);
void add_comparison_doubts(const compared_profiles& of, report_page& into);

} // namespace nodewise::cli
