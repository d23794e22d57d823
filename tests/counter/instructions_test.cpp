// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#include "counter/counted.hpp"

namespace nodewise::counter_test {
namespace {

using bytes = std::vector<unsigned char>;

bool streams(const bytes& code) {
  return rig_streams(code.data(), code.size()) != 0;
}

bool gathers_by_register_4(const bytes& code) {
  return rig_gathers(code.data(), code.size()) != 0;
}

bool forgets(const bytes& code) {
  return rig_forgets(code.data(), code.size()) != 0;
}

int mark_in(const bytes& code) {
  return rig_mark_in(code.data(), code.size());
}

TEST(Instructions, ThatStreamAreKnownInTheirLegacyForms) {
  EXPECT_TRUE(streams({0x0f, 0xc3, 0x07}));                   // movnti [rdi], eax
  EXPECT_TRUE(streams({0x48, 0x0f, 0xc3, 0x07}));             // movnti [rdi], rax
  EXPECT_TRUE(streams({0x0f, 0x2b, 0x07}));                   // movntps
  EXPECT_TRUE(streams({0x66, 0x0f, 0x2b, 0x07}));             // movntpd
  EXPECT_TRUE(streams({0x66, 0x0f, 0xe7, 0x07}));             // movntdq
  EXPECT_TRUE(streams({0x66, 0x41, 0x0f, 0xe7, 0x04, 0x24})); // movntdq [r12]
  EXPECT_TRUE(streams({0x0f, 0xe7, 0x07}));                   // movntq
  EXPECT_TRUE(streams({0x64, 0x48, 0x0f, 0xc3, 0x07}));       // movnti fs:[rdi], rax
  EXPECT_TRUE(streams({0x67, 0x66, 0x0f, 0xe7, 0x07}));       // movntdq [edi]
}

TEST(Instructions, ThatStreamAreKnownInTheirVexForms) {
  EXPECT_TRUE(streams({0xc5, 0xf9, 0xe7, 0x07}));             // vmovntdq [rdi], xmm0
  EXPECT_TRUE(streams({0xc5, 0xfd, 0xe7, 0x07}));             // vmovntdq [rdi], ymm0
  EXPECT_TRUE(streams({0xc5, 0xfc, 0x2b, 0x07}));             // vmovntps
  EXPECT_TRUE(streams({0xc5, 0xfd, 0x2b, 0x07}));             // vmovntpd
  EXPECT_TRUE(streams({0xc4, 0xc1, 0x7d, 0xe7, 0x04, 0x24})); // vmovntdq [r12], ymm0
}

TEST(Instructions, ThatOnlyLookLikeStreamingAreNot) {
  EXPECT_FALSE(streams({0xf3, 0x0f, 0xd6, 0xc0}));       // movq2dq
  EXPECT_FALSE(streams({0xf3, 0x0f, 0xe6, 0xc0}));       // cvtdq2pd
  EXPECT_FALSE(streams({0xf2, 0x0f, 0xe6, 0x07}));       // cvtpd2dq
  EXPECT_FALSE(streams({0xf2, 0x0f, 0x2a, 0x07}));       // cvtsi2sd
  EXPECT_FALSE(streams({0xf3, 0x0f, 0xe7, 0x07}));       // none
  EXPECT_FALSE(streams({0x66, 0xf2, 0x0f, 0xe7, 0x07})); // none
  EXPECT_FALSE(streams({0x0f, 0xc2, 0x07, 0x00}));       // cmpps
  EXPECT_FALSE(streams({0x66, 0x0f, 0x38, 0x2a, 0x07})); // movntdqa, a load
  EXPECT_FALSE(streams({0xc4, 0xe2, 0x7d, 0x2b, 0xc0})); // vpackusdw, of another map
  EXPECT_FALSE(streams({0xc5, 0xf9, 0x7f, 0x07}));       // vmovdqa
  EXPECT_FALSE(streams({0x48, 0x89, 0x07}));             // mov [rdi], rax
  EXPECT_FALSE(streams({0x2b, 0x07}));                   // sub
  EXPECT_FALSE(streams({0x0f, 0xc3}));                   // cut off
  EXPECT_FALSE(streams({}));
}

TEST(Instructions, ThatGatherByRegister4AreKnown) {
  EXPECT_TRUE(
      gathers_by_register_4({0xc4, 0xe2, 0xc5, 0x93, 0x1c, 0xe7})); // vgatherqpd [rdi+ymm4*8]
  EXPECT_TRUE(gathers_by_register_4({0xc4, 0xc2, 0xc5, 0x93, 0x5c, 0xe4, 0x10})); // [r12+ymm4*8+16]
  EXPECT_TRUE(
      gathers_by_register_4({0xc4, 0xe2, 0xed, 0x92, 0x0c, 0xe7})); // vgatherdpd [rdi+xmm4*8]
  EXPECT_TRUE(
      gathers_by_register_4({0xc4, 0xe2, 0x69, 0x90, 0x0c, 0xa7})); // vpgatherdd [rdi+xmm4*4]
  EXPECT_TRUE(gathers_by_register_4({0x64, 0xc4, 0xe2, 0xc1, 0x91, 0x34, 0xa5, 0x23, 0x01, 0,
                                     0})); // vpgatherqq fs:[xmm4*4+0x123]
}

TEST(Instructions, ThatGatherByOtherRegistersOrNotAtAllAreNot) {
  EXPECT_FALSE(gathers_by_register_4({0xc4, 0xe2, 0x6d, 0x92, 0x0c, 0xaf})); // [rdi+ymm5*4]
  EXPECT_FALSE(gathers_by_register_4({0xc4, 0xa2, 0x6d, 0x92, 0x0c, 0xa7})); // [rdi+ymm12*4]
  EXPECT_FALSE(gathers_by_register_4({0xc4, 0xe2, 0x7d, 0x25, 0x20})); // vpmovsxdq ymm4, [rax]
  EXPECT_FALSE(gathers_by_register_4({0xc4, 0xe2, 0x75, 0x45, 0x04, 0x24})); // vpsrlvd [rsp]
  EXPECT_FALSE(gathers_by_register_4({0xc4, 0xe1, 0xc5, 0x93, 0x1c, 0xe7})); // of another map
  EXPECT_FALSE(gathers_by_register_4({0xc4, 0xe2, 0xc5, 0x93, 0x1c}));       // cut off
  EXPECT_FALSE(gathers_by_register_4({}));
}

TEST(Instructions, ThatForgetTranslationsAreKnown) {
  EXPECT_TRUE(forgets({0x0f, 0x22, 0xd8}));             // mov cr3, rax
  EXPECT_TRUE(forgets({0x41, 0x0f, 0x22, 0xdc}));       // mov cr3, r12
  EXPECT_TRUE(forgets({0x0f, 0x22, 0xe0}));             // mov cr4, rax
  EXPECT_TRUE(forgets({0x0f, 0x01, 0x3f}));             // invlpg [rdi]
  EXPECT_TRUE(forgets({0x66, 0x0f, 0x38, 0x82, 0x07})); // invpcid rax, [rdi]
}

TEST(Instructions, ThatForgetNothingAreNot) {
  EXPECT_FALSE(forgets({0x0f, 0x20, 0xd8}));             // mov rax, cr3
  EXPECT_FALSE(forgets({0x0f, 0x22, 0xc0}));             // mov cr0, rax
  EXPECT_FALSE(forgets({0x44, 0x0f, 0x22, 0xc0}));       // mov cr8, rax
  EXPECT_FALSE(forgets({0x0f, 0x01, 0xf8}));             // swapgs
  EXPECT_FALSE(forgets({0x0f, 0x01, 0xf9}));             // rdtscp
  EXPECT_FALSE(forgets({0x0f, 0x01, 0x37}));             // lmsw
  EXPECT_FALSE(forgets({0x66, 0x0f, 0x38, 0x80, 0x07})); // invept
  EXPECT_FALSE(forgets({0x0f, 0x38}));
  EXPECT_FALSE(forgets({}));
}

TEST(Instructions, ThatSwitchTasksNameTheOffsetOfTheStackPointer) {
  const bytes from_next = {0x48, 0x8b, 0xa6, 0x18, 0x1b, 0x00, 0x00}; // mov rsp, [rsi+0x1b18]
  const bytes to_other = {0x48, 0x8b, 0xa7, 0x18, 0x1b, 0x00, 0x00};  // mov rsp, [rdi+0x1b18]
  const bytes near = {0x48, 0x8b, 0x66, 0x18};                        // mov rsp, [rsi+0x18]
  EXPECT_EQ(rig_switches(from_next.data(), from_next.size()), 0x1b18);
  EXPECT_EQ(rig_switches(to_other.data(), to_other.size()), -1);
  EXPECT_EQ(rig_switches(near.data(), near.size()), -1);
}

TEST(Instructions, ThatMarkCarryTheirCode) {
  EXPECT_EQ(mark_in({0x0f, 0x1f, 0x84, 0x00, 0x22, 0x00, 0x57, 0x4e}), 0x22);
  EXPECT_EQ(mark_in({0x0f, 0x1f, 0x84, 0x00, 0x22, 0x01, 0x57, 0x4e}), 0x122);
  EXPECT_EQ(mark_in({0x0f, 0x1f, 0x84, 0x00, 0x00, 0x00, 0x00, 0x00}), -1); // a usual NOP
  EXPECT_EQ(mark_in({0x66, 0x0f, 0x1f, 0x84, 0x00, 0x22, 0x00, 0x57, 0x4e}), -1);
  EXPECT_EQ(mark_in({0x0f, 0x1f, 0x84, 0x00}), -1);
}

} // namespace
} // namespace nodewise::counter_test
