// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#pragma once

namespace nodewise::spec {

/// The purpose of nodes: a node may have processors, memory, or both.
enum class node_purpose { processors, memory };

} // namespace nodewise::spec
