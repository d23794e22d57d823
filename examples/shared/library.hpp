// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What the C++ programs with Nodewise's library share and what is not their point.
#ifndef NODEWISE_EXAMPLES_LIBRARY_HPP
#define NODEWISE_EXAMPLES_LIBRARY_HPP

#include <cstdio>
#include <cstdlib>
#include <exception>

#include "command_line.h"
#include "result_line.h"

// What the library throws ends the program with its one line, asked, answered, what to do, and
// status 1.
inline void say_what_fails() {
  std::set_terminate([] {
    try {
      if (const std::exception_ptr why = std::current_exception()) {
        std::rethrow_exception(why);
      }
    } catch (const std::exception& failed) {
      std::fprintf(stderr, "%s\n", failed.what());
    }
    std::_Exit(1);
  });
}

template <class Teams>
void print_result(const command_line& line, double checksum, const Teams& teams, int sweeps,
                  double elapsed) {
  print_result_of(&line, checksum, static_cast<int>(teams.threads().workers().size()), sweeps,
                  elapsed);
}

#endif
