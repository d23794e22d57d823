// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The result of `nodewise survey`, and how it is shown as text.
#pragma once

#include <string>
#include <vector>

#include "report/style.hpp"
#include "survey/finding.hpp"
#include "survey/job.hpp"

namespace nodewise::cli {

struct surveyed_job {
  survey::job what;
  survey::job_shape shape;
  std::vector<survey::finding> findings;

  [[nodiscard]] std::vector<survey::fix> fixes_of(const survey::finding& of) const {
    return survey::fixes_of(of.what, what.launcher, shape);
  }
};

/// What is wrong, then the hosts.
[[nodiscard]] std::string survey_text(const surveyed_job& what, const report::style& how);

} // namespace nodewise::cli
