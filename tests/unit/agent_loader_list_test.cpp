// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "agent/loader_list.hpp"

#include <cstddef>
#include <memory>

#include <gtest/gtest.h>

#include <dlfcn.h>
#include <link.h>

namespace nodewise::agent {

namespace {

const int in_executable = 1;

/// What the C library's own search finds.
listed_module by_dl_find_object(const void* address) {
  dl_find_object found;
  if (_dl_find_object(const_cast<void*>(address), &found) != 0) {
    return {};
  }
  return {static_cast<const char*>(found.dlfo_map_start),
          static_cast<const char*>(found.dlfo_map_end), found.dlfo_link_map->l_name};
}

void expect_same(const void* address) {
  const listed_module expected = by_dl_find_object(address);
  const listed_module found = find_in_loader_list(address);
  EXPECT_NE(found.start, nullptr);
  EXPECT_EQ(found.start, expected.start);
  EXPECT_EQ(found.end, expected.end);
  EXPECT_STREQ(found.path, expected.path);
}

} // namespace

TEST(AgentLoaderList, FindsWhatTheCLibraryFinds) {
  expect_same(&in_executable);
  expect_same(reinterpret_cast<const void*>(&::dlopen));
}

TEST(AgentLoaderList, FindsNothingOutsideOfModules) {
  const int on_stack = 1;
  const auto on_heap = std::make_unique<int>(1);
  EXPECT_EQ(find_in_loader_list(&on_stack).start, nullptr);
  EXPECT_EQ(find_in_loader_list(on_heap.get()).start, nullptr);
  EXPECT_EQ(find_in_loader_list(nullptr).start, nullptr);
}

TEST(AgentLoaderList, FindsNothingWhileAModuleIsUnloaded) {
  {
    const unloading_modules guard;
    EXPECT_EQ(find_in_loader_list(&in_executable).start, nullptr);
  }
  EXPECT_NE(find_in_loader_list(&in_executable).start, nullptr);
}

TEST(AgentLoaderList, FindsEveryModuleOfTheProcess) {
  int modules = 0;
  ::dl_iterate_phdr(
      [](dl_phdr_info* module, std::size_t, void* count) {
        for (int i = 0; i < module->dlpi_phnum; ++i) {
          if (module->dlpi_phdr[i].p_type == PT_LOAD) {
            expect_same(
                reinterpret_cast<const void*>(module->dlpi_addr + module->dlpi_phdr[i].p_vaddr));
            ++*static_cast<int*>(count);
            break;
          }
        }
        return 0;
      },
      &modules);
  EXPECT_GT(modules, 2);
}

} // namespace nodewise::agent
