// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include <nodewise/tbb.hpp>

#include "unit/node_teams_test.hpp"

namespace nodewise::test {

INSTANTIATE_TYPED_TEST_SUITE_P(OneTbb, NodeTeams, tbb_teams);

} // namespace nodewise::test
