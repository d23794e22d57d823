// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

namespace nodewise::html {

enum class cell_kind { text, number, code };

struct column {
  std::string title;
  cell_kind kind = cell_kind::text;
};

/// Cells are texts as people read them: "75.0 %", "unavailable".
struct table {
  std::string caption; ///< may be empty
  std::vector<column> columns;
  std::vector<std::vector<std::string>> rows; ///< each as long as `columns`
};

} // namespace nodewise::html
