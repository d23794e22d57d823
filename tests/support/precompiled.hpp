// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// What every test includes, parsed once. Every file still includes what it uses: the build with
// Clang does without this file.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/precompiled.hpp"
