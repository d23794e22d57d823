// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A system call that read a file touched the array, in one thread.
#include "advise/pattern_tools.hpp"

namespace nodewise::advise {

namespace {

std::vector<std::size_t> serial_file_read_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item& what, const shape& how) {
    return is_serial(what, how) && how.by_kernel >= 0.5;
  });
}

suspicion describe_serial_file_read(const analysis& of, const std::vector<std::size_t>& sites) {
  suspicion made{.title = names_of(of.input, sites) + ": read from a file by one thread, which so "
                                                      "touched all pages first",
                 .evidence = usual_evidence(of, sites),
                 .remarks = usual_doubts(of, sites)};
  made.evidence.insert(
      made.evidence.begin(),
      "a system call touched " +
          percent(mean_over(of, sites, [](const shape& s) { return s.by_kernel; })) +
          " of the pages first");
  return made;
}

} // namespace

const detector serial_file_read{.what = pattern::serial_file_read,
                                .needs = needs_faults | needs_objects,
                                .sites = serial_file_read_sites,
                                .describe = describe_serial_file_read};

} // namespace nodewise::advise
