/* Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0 */
#include <nodewise.h>
#include <stdio.h>
#include <string.h>

int main(void) {
  nodewise_layout* team = NULL;
  nodewise_distribution* by = NULL;
  nodewise_region* memory = NULL;
  struct nodewise_residency where;
  char picture[256];
  if (nodewise_layout_make(&team, NODEWISE_CLOSE, 0) != 0 ||
      nodewise_blocked_by_threads(&by, team) != 0 ||
      nodewise_region_make(&memory, 8 << 20, by, NODEWISE_PREFER) != 0) {
    fprintf(stderr, "%s\n", nodewise_error());
    return 1;
  }
  memset(nodewise_region_data(memory), 1, nodewise_region_bytes(memory));
  if (nodewise_where(memory, &where) != 0 ||
      nodewise_strip(memory, 32, picture, sizeof picture) != 0) {
    fprintf(stderr, "%s\n", nodewise_error());
    return 1;
  }
  printf("%s\n", picture);
  nodewise_region_free(memory);
  nodewise_distribution_free(by);

  /* A failure has a reason, and nothing is made. */
  by = NULL;
  if (nodewise_bound(&by, -1) == 0 || by != NULL || strlen(nodewise_error()) == 0) {
    return 1;
  }
  nodewise_layout_free(team);
  return where.resident == where.pages ? 0 : 1;
}
