// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "cli/measured_costs.hpp"
#include "cli/sites.hpp"

#include "launch/plan.hpp"

namespace nodewise::cli {

topology machine_for(const launch::run_options& options) {
  return topology::from_sysfs("/", launch::detail_for(options));
}

void read_plan(launch::run_options&) {}

launch::build_id_reader make_build_id_reader() {
  return {};
}

launch::library_finder make_library_finder() {
  return {};
}

launch::site_finder make_site_finder() {
  return {};
}

launch::weight_source make_weight_source() {
  return {};
}

site_namer make_site_namer(const std::string&) {
  return {};
}

} // namespace nodewise::cli
