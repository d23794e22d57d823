// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// dlerror() says why dlopen failed, even if the first use of operator new comes in between.
#include <cstdio>
#include <string>

#include <dlfcn.h>

int main() {
  if (::dlopen("/nonexistent/library.so", RTLD_NOW) != nullptr) {
    return 1;
  }
  std::string said = "too long for a string that holds its own text: ";
  const char* const reason = ::dlerror();
  if (reason == nullptr) {
    std::fputs("dlerror() has lost the reason\n", stderr);
    return 1;
  }
  said += reason;
  std::puts(said.find("/nonexistent/library.so") == std::string::npos ? said.c_str() : "ok");
  return 0;
}
