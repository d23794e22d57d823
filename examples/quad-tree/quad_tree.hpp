// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// Particles in a quad-tree, and for each of them the nearest other one: what all forms share. The
// particles are sorted along the Z-order curve, so those of a cell follow each other. `Fork` calls
// a function for each of some parts of the particles, as tasks, and waits for all; it also gives
// the memory for cells.
#ifndef NODEWISE_EXAMPLES_QUAD_TREE_HPP
#define NODEWISE_EXAMPLES_QUAD_TREE_HPP

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <memory_resource>
#include <span>
#include <utility>

inline constexpr unsigned bits_of_root = 20; // coordinates are whole numbers: all forms sum exactly

struct particle {
  double x;
  double y;
  double nearest;    // square of the distance to the nearest other particle
  std::uint64_t key; // on the curve: the bits of x and y in turn
};

// Some particles: from first to last.
struct part {
  std::size_t first = 0;
  std::size_t last = 0;
};

// Where a cell is.
struct square {
  double x = 0;
  double y = 0;
  std::uint64_t key = 0;        // the least in it
  unsigned bits = bits_of_root; // of the coordinates in it

  [[nodiscard]] square quadrant(unsigned k) const {
    const auto half = static_cast<double>(1U << (bits - 1));
    return {x + ((k & 1U) != 0 ? half : 0), y + ((k & 2U) != 0 ? half : 0),
            key + (std::uint64_t{k} << 2 * (bits - 1)), bits - 1};
  }
  // The number of the quadrant that is nearest to a particle.
  [[nodiscard]] unsigned nearest_quadrant(const particle& to) const {
    const auto half = static_cast<double>(1U << (bits - 1));
    return (to.x >= x + half ? 1U : 0U) + (to.y >= y + half ? 2U : 0U);
  }
  // Square of a particle's distance to the nearest point with whole coordinates.
  [[nodiscard]] double distance(const particle& to) const {
    const double side = static_cast<double>(1U << bits) - 1;
    const double dx = std::max({0.0, x - to.x, to.x - x - side});
    const double dy = std::max({0.0, y - to.y, to.y - y - side});
    return dx * dx + dy * dy;
  }
};

// The particles in a square, and its quadrants if there are many.
struct cell : part {
  cell* children = nullptr;

  [[nodiscard]] bool is_leaf() const { return children == nullptr; }
  [[nodiscard]] std::span<cell> quadrants() const { return {children, 4}; }
  [[nodiscard]] unsigned number_of(const cell& quadrant) const {
    return static_cast<unsigned>(&quadrant - children);
  }
};

template <class Fork>
class quad_tree {
 public:
  quad_tree(particle* particles, std::size_t count, Fork fork)
      : particles_(particles), count_(count), fork_(std::move(fork)) {
    root_.last = count;
  }

  // Gives some particles new places, in the same order along the curve: densest in a corner.
  void move(const part& some, int sweep) {
    const std::size_t size = some.last - some.first;
    if (size <= cut_off) {
      for (std::size_t i = some.first; i < some.last; ++i) {
        particles_[i] = particle_at(i, sweep);
      }
      return;
    }
    part quarters[4];
    for (std::size_t k = 0; k < 4; ++k) {
      quarters[k] = {some.first + size * k / 4, some.first + size * (k + 1) / 4};
    }
    fork_(quarters, [&](const part& quarter) { move(quarter, sweep); });
  }

  // The cell of all particles: not divided before `build` and after `clear`.
  [[nodiscard]] cell& root() { return root_; }

  // Divides a cell into quadrants until each has few particles.
  void build(cell& of, const square& where = {}) {
    if (split(of, where)) {
      for_each_quadrant(of,
                        [&](cell& child) { build(child, where.quadrant(of.number_of(child))); });
    }
  }
  // Divides a cell into quadrants, unless it has few particles.
  bool split(cell& of, const square& where) const {
    if (of.last - of.first <= particles_of_a_leaf || where.bits == 0) {
      return false;
    }
    of.children = memory_of(of).allocate(4);
    std::uninitialized_default_construct_n(of.children, 4);
    std::size_t first = of.first;
    for (unsigned k = 0; k < 4; ++k) {
      cell& child = of.children[k];
      child.first = first;
      child.last = k == 3 ? of.last : first_from(first, of.last, where.quadrant(k + 1).key);
      first = child.last;
    }
    return true;
  }

  // Finds the nearest other particle for each particle of a cell.
  void search(const cell& of) {
    if (!of.is_leaf()) {
      for_each_quadrant(of, [this](const cell& child) { search(child); });
      return;
    }
    for (std::size_t i = of.first; i < of.last; ++i) {
      double nearest = std::numeric_limits<double>::max();
      look(root_, {}, particles_[i], nearest);
      particles_[i].nearest = nearest; // use
    }
  }

  // The sum of what `search` has found.
  double sum(const cell& of) {
    double sums[4] = {};
    if (!of.is_leaf()) {
      for_each_quadrant(of, [&](const cell& child) { sums[of.number_of(child)] = sum(child); });
    } else {
      for (std::size_t i = of.first; i < of.last; ++i) {
        sums[0] += particles_[i].nearest;
      }
    }
    return sums[0] + sums[1] + sums[2] + sums[3];
  }

  // Frees what is below a cell, in tasks as well: else one thread would read the whole tree.
  void clear(cell& of) {
    if (!of.is_leaf()) {
      for_each_quadrant(of, [this](cell& child) { clear(child); });
      memory_of(of).deallocate(std::exchange(of.children, nullptr), 4);
    }
  }

 private:
  static constexpr std::size_t cut_off = 256; // particles of a task
  static constexpr std::size_t particles_of_a_leaf = 8;

  [[nodiscard]] std::pmr::polymorphic_allocator<cell> memory_of(const part& some) const {
    return fork_.memory_of(some);
  }

  template <class F>
  void for_each_quadrant(const cell& of, const F& f) {
    if (of.last - of.first > cut_off) {
      fork_(of.quadrants(), f);
    } else {
      std::ranges::for_each(of.quadrants(), f);
    }
  }

  // The first of some particles that is not before a place on the curve.
  [[nodiscard]] std::size_t first_from(std::size_t first, std::size_t last,
                                       std::uint64_t key) const {
    const auto* found = std::partition_point(particles_ + first, particles_ + last,
                                             [&](const particle& p) { return p.key < key; });
    return static_cast<std::size_t>(found - particles_);
  }

  // Looks in a cell for a particle that is nearer than the nearest so far.
  void look(const cell& in, const square& where, const particle& of, double& nearest) const {
    if (!in.is_leaf()) {
      const unsigned closest = where.nearest_quadrant(of);
      for (unsigned k = 0; k < 4; ++k) {
        const square quadrant = where.quadrant(closest ^ k);
        if (quadrant.distance(of) < nearest) {
          look(in.children[closest ^ k], quadrant, of, nearest);
        }
      }
      return;
    }
    for (std::size_t i = in.first; i < in.last; ++i) {
      const particle& other = particles_[i];
      const double dx = other.x - of.x;
      const double dy = other.y - of.y;
      nearest = &other == &of ? nearest : std::min(nearest, dx * dx + dy * dy);
    }
  }

  [[nodiscard]] particle particle_at(std::size_t i, int sweep) const {
    const std::uint64_t mixed =
        (i + static_cast<std::uint64_t>(sweep) * 0x9e3779b9U) * 0x9e3779b97f4a7c15U;
    const double between = static_cast<double>(mixed >> 32U) / 4294967296.0;
    const double along = (static_cast<double>(i) + between) / static_cast<double>(count_);
    const auto all = static_cast<double>(std::uint64_t{1} << 2 * bits_of_root);
    const auto key = static_cast<std::uint64_t>(along * along * all);
    return {every_second_bit(key), every_second_bit(key >> 1U), 0, key};
  }
  static double every_second_bit(std::uint64_t key) {
    std::uint64_t bits = 0;
    for (unsigned k = 0; k < bits_of_root; ++k) {
      bits |= (key >> k) & (std::uint64_t{1} << k);
    }
    return static_cast<double>(bits);
  }

  particle* particles_;
  std::size_t count_;
  Fork fork_;
  cell root_;
};

#endif
