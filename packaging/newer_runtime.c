/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
 *
 * What GCC 12's static libstdc++ and libgcc call in the C library of Debian 12, and what Debian 11's does not have.
 * Part of each C++ program of the packages, and visible only in it. */
#include <dlfcn.h>
#include <link.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/random.h>

/* Never 1, so reference counts are always atomic. */
char __libc_single_threaded = 0;

/* std::random_device. getrandom(2) gives up to 256 bytes whole as soon as the kernel has randomness at all. */
uint32_t arc4random(void) {
  uint32_t bits;
  if (getrandom(&bits, sizeof bits, 0) != (ssize_t)sizeof bits) {
    abort();
  }
  return bits;
}

struct search {
  uintptr_t address;
  struct dl_find_object* found;
};

static int look_at(struct dl_phdr_info* module, size_t size, void* data) {
  const struct search* const wanted = data;
  const ElfW(Phdr)* table = NULL;
  uintptr_t start = 0;
  uintptr_t end = 0;
  (void)size;
  for (ElfW(Half) i = 0; i < module->dlpi_phnum; ++i) {
    const ElfW(Phdr)* const part = &module->dlpi_phdr[i];
    const uintptr_t begin = module->dlpi_addr + part->p_vaddr;
    if (part->p_type == PT_GNU_EH_FRAME) {
      table = part;
    } else if (part->p_type == PT_LOAD && wanted->address - begin < part->p_memsz) {
      start = begin;
      end = begin + part->p_memsz;
    }
  }
  if (end == 0) {
    return 0;
  }
  if (table == NULL) {
    return -1;
  }
  *wanted->found = (struct dl_find_object){
    .dlfo_map_start = (void*)start, .dlfo_map_end = (void*)end, .dlfo_eh_frame = (void*)(module->dlpi_addr + table->p_vaddr)};
  return 1;
}

/* The unwinder asks for the table of an address's module. */
int _dl_find_object(void* address, struct dl_find_object* result) {
  struct search wanted = {(uintptr_t)address, result};
  return dl_iterate_phdr(look_at, &wanted) == 1 ? 0 : -1;
}
