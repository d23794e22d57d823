// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// The agent's orders as text, and back by the agent's own reader.
#include <cstdint>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "agent/protocol.h"
#include "launch/plan.hpp"

namespace nodewise::launch {
namespace {

using testing::HasSubstr;
using testing::Not;

const char* nothing(const char* /*name*/) {
  return nullptr;
}

std::string text_of(const agent_orders& orders) {
  return *agent_variables(orders, "/tmp/r", nothing).at(1).value;
}

agent_rule rule_of(std::vector<code_range> above) {
  agent_rule rule;
  rule.above = std::move(above);
  rule.where.what.how = placements::kind::local;
  return rule;
}

TEST(AgentOrders, AMapIsWrittenByItsParts) {
  agent_orders orders;
  orders.threshold_bytes = 65536;
  agent_rule rule;
  rule.kind = "heap";
  rule.where.what.how = placements::kind::map;
  rule.where.what.owners = {{2, 2}, {1, 0}, {1, 2}};
  orders.rules.push_back(rule);
  EXPECT_THAT(text_of(orders), HasSubstr(";rule=kind=heap,least=0:map@2*2,0,2;"));
}

TEST(AgentOrders, StackAndOrderAreConditions) {
  agent_orders orders;
  agent_rule rule = rule_of({{"solver", 16, 17}, {"lib x.so", 5, 9}});
  rule.code = {{"solver", 1, 2}};
  rule.first = 3;
  orders.rules.push_back(rule);
  EXPECT_THAT(text_of(orders),
              HasSubstr("rule=least=0,code=solver+1-2,above=solver+16-17,above=lib%20x.so+5-9,"
                        "nth=3-18446744073709551615:local"));
  orders.rules[0].last = 4;
  EXPECT_THAT(text_of(orders), HasSubstr(",nth=3-4:local"));
  orders.rules[0].first.reset();
  EXPECT_THAT(text_of(orders), HasSubstr(",nth=0-4:local"));
}

TEST(AgentOrders, TraceModeLoadsOneLibraryMore) {
  agent_orders orders;
  orders.library = "/opt/lib/libnodewise-agent.so";
  orders.observe = true;
  orders.threshold_bytes = 4096;
  EXPECT_THAT(text_of(orders), Not(HasSubstr("trace")));
  EXPECT_EQ(agent_variables(orders, "", nothing)[0].value, orders.library);
  orders.trace = true;
  EXPECT_THAT(text_of(orders), HasSubstr(";observe;trace;"));
  EXPECT_THAT(text_of(orders), Not(HasSubstr(";numa-pin")));
  orders.numa_pin = true;
  EXPECT_THAT(text_of(orders), HasSubstr(";observe;trace;numa-pin;"));
  EXPECT_EQ(agent_variables(orders, "", nothing)[0].value,
            orders.library + ":/opt/lib/libnodewise-trace.so");
}

TEST(AgentOrders, WhatTheAgentCouldNotReadIsRefusedBefore) {
  agent_orders rules;
  rules.rules.assign(NODEWISE_AGENT_MAX_RULES, rule_of({}));
  EXPECT_NO_THROW((void)text_of(rules));
  rules.rules.push_back(rule_of({}));
  EXPECT_THROW((void)text_of(rules), error);

  agent_orders above;
  above.rules.push_back(rule_of(std::vector<code_range>(NODEWISE_AGENT_MAX_CODE, {"a", 1, 2})));
  EXPECT_NO_THROW((void)text_of(above));
  above.rules.push_back(rule_of({{"a", 1, 2}}));
  EXPECT_THROW((void)text_of(above), error);

  agent_orders runs;
  agent_rule map;
  map.where.what.how = placements::kind::map;
  for (int i = 0; i < NODEWISE_AGENT_MAX_RUNS; ++i) {
    map.where.what.owners.push_back({1, static_cast<std::size_t>(i % 2)});
  }
  runs.rules.push_back(map);
  EXPECT_NO_THROW((void)text_of(runs));
  for (placements::owner_run& each : runs.rules[0].where.what.owners) {
    each.parts = 10;
  }
  EXPECT_THROW((void)text_of(runs), error); // 160 KiB of text: nothing can be run with it
}

} // namespace
} // namespace nodewise::launch
