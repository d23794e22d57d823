// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The text that the launcher hands the agent in its environment.
#include "agent/settings.hpp"

#include "fuzz/fuzz.hpp"

using namespace nodewise;

std::vector<std::string> fuzz::seeds() {
  const std::string begin = NODEWISE_AGENT_SETTINGS;
  return {begin,
          begin + ";threshold=1048576;group=256;owners=0*4,1*4;default=blocked;quiet;report=/tmp/r",
          begin + ";threshold=4096;observe;pin=0|1-2,5|3",
          begin + ";threshold=4096;default=cyclic@65536@0*3,1*1;rule=kind=heap,least=5,most=9,"
                  "symbol=a%2Bb,code=solver+16-32,code=b+1-2:interleave@0,1;rule=least=1:bind@2",
          begin + ";threshold=1;trace;observe;rule=above=a+16-17,code=b+1-2,above=c+5-9,"
                  "nth=2-18446744073709551615:map@0*3,1*5,0*1"};
}

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static agent::settings read;
  const std::string text(fuzz::text(data, size));
  const char* const wrong = agent::parse(text.c_str(), read);
  fuzz::require(wrong == nullptr || *wrong != '\0');
  return 0;
}
