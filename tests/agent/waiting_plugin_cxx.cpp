// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Its constructor waits for a thread that uses the operators of C++: under the loader's lock.
#include <memory>
#include <thread>

namespace {

struct waiting {
  waiting() {
    std::thread([] { std::make_unique<int[]>(100)[0] = 1; }).join();
  }
};

const waiting at_load;

} // namespace
