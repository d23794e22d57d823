// Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
//
// std::vector and new T[n]: constructors touched the array, in one thread.
#include "advise/patterns.hpp"

namespace nodewise::advise {

namespace {

positions constructor_touch_sites(const analysis& of, const std::vector<char>& free) {
  return sites_where(of, free, [](const item& what, const shape& how) {
    return is_serial(what, how) && how.by_constructor >= 0.5;
  });
}

suspicion describe_constructor_touch(const analysis& of, const positions& sites) {
  return usual(of, sites, "constructed by one thread, which therefore touched all pages first",
               {.first = fmt::format("constructors touched {} of the pages first",
                                     percent(mean_over(of, sites, &shape::by_constructor)))});
}

std::vector<cure> constructor_touch_cures(const subject& of, const remedy& with) {
  std::vector<cure> all = touch_in_parallel(of, with);
  if (of.in == language::cpp) {
    all.insert(all.begin(),
               {"C++",
                "use an allocator that leaves elements without a value, so that no constructor "
                "touches them; then touch them in parallel",
                fmt::format("{}template <class T>\nstruct untouched : std::allocator<T> {{\n"
                            "  template <class U> struct rebind {{ using other = untouched<U>; "
                            "}};\n"
                            "  template <class U> void construct(U* at) {{ ::new (at) U; }}\n"
                            "  template <class U, class... A> void construct(U* at, A&&... with) "
                            "{{\n"
                            "    ::new (at) U(std::forward<A>(with)...);\n  }}\n}};\n"
                            "std::vector<T, untouched<T>> {}(n);\n",
                            of.made, of.array)});
  }
  return all;
}

} // namespace

const detector constructor_touch(pattern::constructor_touch, needs_faults | needs_objects,
                                 constructor_touch_sites, describe_constructor_touch,
                                 constructor_touch_cures,
                                 {"then fill it in parallel, with the schedule of the loop that "
                                  "uses it"});

} // namespace nodewise::advise
