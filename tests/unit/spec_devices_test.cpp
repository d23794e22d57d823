// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Devices by name: those that a machine value tells of, and those in the files of a system.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <sys/stat.h>
#include <sys/sysmacros.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nodewise/error.hpp>

#include "spec/device_kinds.hpp"
#include "spec/spec.hpp"
#include "spec_words.hpp"
#include "unit/grid_machine.hpp"

namespace nodewise::spec {
namespace {

using test::grid;
using test::memory;
using test::refusal;
using testing::HasSubstr;

/// A root with a network card at node 1, a disk with a partition at node 0, and devices of which
/// the firmware says nothing.
class DeviceFiles : public testing::Test {
 protected:
  DeviceFiles() {
    std::string pattern = (std::filesystem::temp_directory_path() / "nodewise-XXXXXX").string();
    root_ = ::mkdtemp(pattern.data());
    add("pci0000:3a/0000:3b:00.0", "1", "net/eth0", "/sys/class/net/eth0");
    add("pci0000:00/0000:00:1f.2", "0", "block/sda", "/sys/class/block/sda");
    add("pci0000:00/0000:00:1f.2", "0", "block/sda/sda1", "/sys/class/block/sda1");
    add("pci0000:00/0000:00:03.0", "-1", "net/eth1", "/sys/class/net/eth1");
    add("virtual", "", "net/lo", "/sys/class/net/lo");
    link("/sys/devices/pci0000:3a/0000:3b:00.0", "/sys/bus/pci/devices/0000:3b:00.0");
    link("/sys/devices/pci0000:00/0000:00:03.0", "/sys/bus/pci/devices/0000:00:03.0");
  }
  ~DeviceFiles() override { std::filesystem::remove_all(root_); }

  void link(const std::string& device, const std::string& from) const {
    std::filesystem::create_directories((root_ + from).substr(0, (root_ + from).rfind('/')));
    std::filesystem::create_directory_symlink(root_ + device, root_ + from);
  }

  void add(const std::string& bus, const std::string& node, const std::string& name,
           const std::string& from) const {
    const std::string device = "/sys/devices/" + bus;
    std::filesystem::create_directories(root_ + device + '/' + name);
    if (!node.empty()) {
      std::ofstream(root_ + device + "/numa_node") << node << '\n';
    }
    link(device + '/' + name, from);
  }

  [[nodiscard]] std::string memory(std::string_view text) const {
    return resolve_nodes(text, where_, node_purpose::memory, root_).to_string();
  }
  [[nodiscard]] std::string cpus(std::string_view text) const {
    return resolve_cpus(text, where_, root_).cpus().to_string();
  }
  [[nodiscard]] std::string refused(std::string_view text) const {
    return refusal([&] { (void)memory(text); });
  }

  std::string root_;
  topology where_{grid(2, 2)};
};

TEST_F(DeviceFiles, NameTheNodeTheyAreNearTo) {
  EXPECT_EQ(memory("netdev:eth0"), "1");
  EXPECT_EQ(memory("near:netdev=eth0"), "1");
  EXPECT_EQ(memory("pci:0000:3b:00.0"), "1");
  EXPECT_EQ(memory("pci:3b:00"), "1");
  EXPECT_EQ(memory("near:pci=0000:3B:00.0"), "1");
  EXPECT_EQ(memory("block:sda"), "0");
  EXPECT_EQ(memory("block:sda1"), "0") << "a partition is its disk's";
  EXPECT_EQ(memory("os=eth0"), "1");
  EXPECT_EQ(memory("os=sda"), "0");
  EXPECT_EQ(memory("pci=3b:00.0"), "1");
  EXPECT_EQ(cpus("near:netdev=eth0"), "2-3");
  EXPECT_EQ(cpus("netdev:eth0"), "2-3");
  EXPECT_EQ(cpus("os=sda os=eth0"), "0-3");
}

TEST_F(DeviceFiles, ThatNobodyPlacesAreAtNoNode) {
  EXPECT_THAT(refused("netdev:eth1"), HasSubstr("the firmware does not report"));
  EXPECT_THAT(refused("pci:00:03.0"), HasSubstr("the firmware does not report"));
  EXPECT_THAT(refused("netdev:lo"), HasSubstr("the firmware does not report"));
  EXPECT_THAT(refused("os=eth1"), HasSubstr("the firmware does not report"));
  EXPECT_THAT(refused("netdev:eth7"), HasSubstr("no such device"));
  EXPECT_THAT(refused("os=eth7"), HasSubstr("no such device"));
}

TEST_F(DeviceFiles, RefuseNamesThatAreNone) {
  for (const char* nonsense : {"netdev:", "netdev:..", "netdev:../class/net/eth0", "netdev:a/b",
                               "pci:", "pci:zz:00.0", "pci:3b", "pci:3b:00.9", "pci:3b:20.0",
                               "near:", "near:netdev", "near:netdev=", "near:disk=sda",
                               "block:", "file:", "file:/no/such/file", "os=", "os=../x"}) {
    EXPECT_FALSE(refused(nonsense).empty()) << nonsense;
  }
  EXPECT_THAT(refused("ip:localhost"), HasSubstr("netdev:eth0"));
  EXPECT_FALSE(refused(std::string_view("netdev:a\0b", 10)).empty());
}

TEST_F(DeviceFiles, FindTheDiskOfAFile) {
  const std::string file = root_ + "/data";
  std::ofstream(file) << "x";
  struct stat status{};
  ASSERT_EQ(::stat(file.c_str(), &status), 0);
  EXPECT_THAT(refused("file:" + file), HasSubstr("no such device"));
  link("/sys/devices/pci0000:00/0000:00:1f.2/block/sda/sda1",
       "/sys/dev/block/" + std::to_string(major(status.st_dev)) + ":" +
           std::to_string(minor(status.st_dev)));
  EXPECT_EQ(memory("file:" + file), "0");
  EXPECT_EQ(memory("block:" + file), "0");
}

TEST_F(DeviceFiles, AreThoseOfTheNodesThatCanBeUsed) {
  const topology first(grid(2, 2), cpu_set::range(cpu_id{0}, cpu_id{1}), {node_id{0}});
  EXPECT_THAT(
      refusal([&] { (void)resolve_nodes("netdev:eth0", first, node_purpose::memory, root_); }),
      HasSubstr("node 1 exists, but this process may only use memory of 0"));
  EXPECT_THAT(refusal([&] { (void)resolve_cpus("netdev:eth0", first, root_); }),
              HasSubstr("node 1 exists, but this process may only use processors 0-1"));
}

std::string text_of(const std::vector<device>& devices) {
  std::string text;
  for (const device& each : devices) {
    text += each.name + ' ' + each.bus + " @" + each.nodes.to_string() + '\n';
  }
  return text;
}

TEST_F(DeviceFiles, OfAKindAreThoseThatComputeAndNoVirtualFunctions) {
  const auto add_pci = [&](const std::string& address, const char* node, const char* pci_class,
                           const char* vendor) {
    add("pci0000:80/" + address, node, "x", "/sys/class/x/" + address);
    const std::string folder = root_ + "/sys/devices/pci0000:80/" + address;
    std::ofstream(folder + "/class") << pci_class << '\n';
    std::ofstream(folder + "/vendor") << vendor << '\n';
    std::ofstream(folder + "/device") << "0x20b0\n";
    link("/sys/devices/pci0000:80/" + address, "/sys/bus/pci/devices/" + address);
    return folder;
  };
  EXPECT_EQ(text_of(devices_of_kind("gpu", where_, root_)), "");
  add_pci("0000:8a:00.0", "1", "0x030200", "0x10de"); // a 3D controller of NVIDIA
  add_pci("0000:09:00.0", "0", "0x038000", "0x1002"); // a display controller of AMD
  add_pci("0000:02:00.0", "0", "0x030000", "0x1a03"); // the management controller's
  add_pci("0000:8b:00.0", "-1", "0x120000", "0x1da3");
  const std::string virtual_one = add_pci("0000:8a:00.4", "1", "0x030200", "0x10de");
  link("/sys/devices/pci0000:80/0000:8a:00.0", virtual_one.substr(root_.size()) + "/physfn");
  EXPECT_EQ(text_of(devices_of_kind("gpu", where_, root_)), "0000:09:00.0 0000:09:00.0 @0\n"
                                                            "0000:8a:00.0 0000:8a:00.0 @1\n"
                                                            "0000:8b:00.0 0000:8b:00.0 @\n");
  EXPECT_EQ(text_of(devices_of_kind("gpu", topology{grid(1, 2)}, root_)),
            "0000:09:00.0 0000:09:00.0 @0\n0000:8a:00.0 0000:8a:00.0 @0\n"
            "0000:8b:00.0 0000:8b:00.0 @0\n")
      << "a machine of one node has no other";
  const std::string adapter = add_pci("0000:c1:00.0", "1", "0x020000", "0x15b3");
  std::filesystem::create_directories(adapter + "/infiniband/mlx5_0");
  link(adapter.substr(root_.size()), adapter.substr(root_.size()) + "/infiniband/mlx5_0/device");
  link(adapter.substr(root_.size()) + "/infiniband/mlx5_0", "/sys/class/infiniband/mlx5_0");
  EXPECT_EQ(text_of(devices_of_kind("fabric", where_, root_)), "mlx5_0 0000:c1:00.0 @1\n");
}

TEST(Devices, OfAMachineValueAnswerForThemselves) {
  machine made = grid(2, 2);
  made.devices.push_back({"eth0", "network", "0000:3b:00.0", {node_id{1}}});
  made.devices.push_back({"nvme0n1", "storage", "0000:01:00.0", {}});
  const topology where{made};
  EXPECT_EQ(resolve_nodes("netdev:eth0", where, node_purpose::memory).to_string(), "1");
  EXPECT_EQ(resolve_nodes("pci:3b:00.0", where, node_purpose::memory).to_string(), "1");
  EXPECT_EQ(resolve_cpus("near:pci=3b:00.0", where).cpus().to_string(), "2-3");
  EXPECT_THAT(refusal([&] { (void)resolve_cpus("block:nvme0n1", where); }),
              HasSubstr("the firmware does not report"));
  // The machine is not this one: what is in /sys here is nothing to it.
  EXPECT_THAT(refusal([&] { (void)resolve_cpus("netdev:lo", where); }),
              HasSubstr("no such device"));
  EXPECT_EQ(text_of(devices_of_kind("gpu", where)), "");
}

TEST(Devices, WithSeveralNamesAreOne) {
  machine made = grid(2, 2);
  made.devices = {{"renderD128", "gpu", "0000:8a:00.0", {node_id{1}}},
                  {"card1", "gpu", "0000:8a:00.0", {node_id{1}}},
                  {"card0", "gpu", "0000:09:00.0", {node_id{0}}},
                  {"soc", "gpu", "", {}}};
  EXPECT_EQ(text_of(devices_of_kind("gpu", topology{made})),
            "card0 0000:09:00.0 @0\ncard1 0000:8a:00.0 @1\nsoc  @\n");
}

} // namespace
} // namespace nodewise::spec
