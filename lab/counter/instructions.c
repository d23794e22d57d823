// Copyright the Nodewise authors. SPDX-License-Identifier: GPL-2.0-or-later
#include "instructions.h"

#include <string.h>

static bool is_legacy_prefix(unsigned char byte) {
  // Operand size, address size, segments FS and GS, repeats; these instructions use no others.
  return (byte >= 0x64 && byte <= 0x67) || byte == 0xf2 || byte == 0xf3;
}

// The number of legacy and REX prefixes.
static size_t prefixes_of(const unsigned char* bytes, size_t count) {
  size_t at = 0;
  while (at < count && is_legacy_prefix(bytes[at]))
    at++;
  if (at < count && (bytes[at] & 0xf0) == 0x40)
    at++;
  return at;
}

static bool is_streaming_opcode(unsigned char opcode) {
  return opcode == 0x2b || opcode == 0xe7; // MOVNTPS/PD; MOVNTDQ, MOVNTQ
}

bool is_streaming_store(const unsigned char* bytes, size_t count) {
  if (count >= 4 && bytes[0] == 0xc5)
    return is_streaming_opcode(bytes[2]);
  if (count >= 5 && bytes[0] == 0xc4)
    return (bytes[1] & 0x1f) == 1 && is_streaming_opcode(bytes[3]);
  const size_t at = prefixes_of(bytes, count);
  if (at + 2 >= count || bytes[at] != 0x0f)
    return false;
  if (memchr(bytes, 0xf2, at) || memchr(bytes, 0xf3, at))
    return false; // other instructions
  return bytes[at + 1] == 0xc3 || is_streaming_opcode(bytes[at + 1]);
}

bool gathers_by_register_4(const unsigned char* bytes, size_t count) {
  const size_t at = prefixes_of(bytes, count);
  if (at + 5 >= count || bytes[at] != 0xc4)
    return false;
  const unsigned char extensions = bytes[at + 1];
  const unsigned char opcode = bytes[at + 3];
  const bool is_gather = (extensions & 0x1f) == 2 && opcode >= 0x90 && opcode <= 0x93;
  const bool has_indices = (bytes[at + 4] & 7) == 4 && bytes[at + 4] >> 6 != 3;
  const bool by_low_register = extensions & 0x40; // the fourth bit of its number, inverted
  return is_gather && has_indices && by_low_register && (bytes[at + 5] >> 3 & 7) == 4;
}

bool forgets_translations(const unsigned char* bytes, size_t count) {
  const size_t at = prefixes_of(bytes, count);
  if (at + 2 >= count || bytes[at] != 0x0f)
    return false;
  const unsigned char field = bytes[at + 2] >> 3 & 7;
  const bool names_memory = bytes[at + 2] >> 6 != 3;
  if (bytes[at + 1] == 0x22)
    return field == 3 || field == 4;
  if (bytes[at + 1] == 0x01)
    return field == 7 && names_memory;
  return memchr(bytes, 0x66, at) && bytes[at + 1] == 0x38 && bytes[at + 2] == 0x82;
}

bool switches_task(const unsigned char* bytes, size_t count, uint32_t* offset) {
  static const unsigned char head[] = {0x48, 0x8b, 0xa6};
  if (count != 7 || memcmp(bytes, head, sizeof head) != 0)
    return false;
  memcpy(offset, bytes + 3, sizeof *offset);
  return true;
}
