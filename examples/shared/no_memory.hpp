// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// How the C++ programs end where `new` gets no memory: with one line and status 1.
#ifndef NODEWISE_EXAMPLES_NO_MEMORY_HPP
#define NODEWISE_EXAMPLES_NO_MEMORY_HPP

#include <cstdio>
#include <cstdlib>
#include <new>

inline const char* no_memory_text = "";

inline void say_no_memory(const char* text) {
  no_memory_text = text;
  std::set_new_handler([] {
    std::fputs(no_memory_text, stderr);
    std::_Exit(1);
  });
}

#endif
