// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "symbols/build_id.hpp"

#include "symbols/elf_file.hpp"

namespace nodewise::symbols {

std::string build_id(const std::string& file) {
  return build_id_of(elf_file(file).get());
}

} // namespace nodewise::symbols
