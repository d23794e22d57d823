// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
#ifndef NODEWISE_EXAMPLES_PARTICLE_HPP
#define NODEWISE_EXAMPLES_PARTICLE_HPP

// Two to a cache line, 128 to a page. It has no constructor of its own: made with () all is zero,
// without () nothing is written.
struct particle {
  double x, y;
  double speed_x, speed_y;

  void move() {
    x += speed_x + 1.0;
    y += speed_y + 1.0;
  }
};

#endif
