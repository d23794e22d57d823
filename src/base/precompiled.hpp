// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Headers of the standard library and {fmt} that most files include, parsed once. Every file still
// includes what it uses, because the build with Clang does not use this file.
#pragma once

#include <algorithm>
#include <array>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/core.h>
