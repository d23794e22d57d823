// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::symbols {

/// Why a chain ends.
enum class chain_end {
  outermost, ///< complete: the thread began here
  copy_ends, ///< the next caller is above the copied part of the stack
  no_module, ///< code in no file: generated at run time, the vdso, an unknown mapping
  no_cfi,    ///< the file is gone, damaged, or does not describe this code
  nonsense,  ///< the information is invalid: the stack does not shrink
  too_long,
};

} // namespace nodewise::symbols
