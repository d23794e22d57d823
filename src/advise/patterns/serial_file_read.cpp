// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// A system call that read a file touched the array, in one thread.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

positions serial_file_read_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item& what, const shape& how) {
    return is_serial(what, how) && how.by_kernel >= 0.5;
  });
}

suspicion describe_serial_file_read(const analysis& of, const positions& sites) {
  return usual(of, sites, "read from a file by one thread, which therefore touched all pages first",
               {.first = fmt::format("a system call touched {} of the pages first",
                                     percent(mean_over(of, sites, &shape::by_kernel)))});
}

} // namespace

const detector serial_file_read(pattern::serial_file_read, needs_faults | needs_objects,
                                serial_file_read_sites, describe_serial_file_read,
                                touch_in_parallel,
                                {"touch it in parallel, then read the file into it"});

} // namespace nodewise::advise
