// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/version.hpp>

namespace nodewise::inline v0 {

const char* library_version() noexcept {
  return NODEWISE_VERSION;
}

} // namespace nodewise::inline v0
