# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A program of the corpus in C or C++.

Lines that end in `// made` allocate, `// touch` initialise in the main thread, `// use` work.
"""

from axes import Spec

HEADERS = """\
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
"""
MORE_HEADERS = {
    ("C", "team once"): "#include <pthread.h>\n",
    ("C", "team anew"): "#include <pthread.h>\n",
    ("C++", "team once"): "#include <barrier>\n#include <thread>\n",
    ("C++", "team anew"): "#include <thread>\n",
    ("C++", "oneTBB"): "#include <tbb/parallel_for.h>\n#include <tbb/task_arena.h>\n",
}

# The rows of array 0 or 1; with several components, of one of these.
STORES = {
    ("C", "flat"): (
        "static double* array[2];\n",
        "  array[0] = malloc(parts * units * width * sizeof(double)); // made\n"
        "  array[1] = malloc(parts * units * width * sizeof(double)); // made\n",
        "array[which] + (part * units + unit) * width",
    ),
    ("C++", "flat"): (
        "static std::vector<double> array[2];\n",
        "  array[0].resize(parts * units * width); // made, touch\n"
        "  array[1].resize(parts * units * width); // made, touch\n",
        "array[which].data() + (part * units + unit) * width",
    ),
    ("C", "static"): (
        "static double array[2][PARTS * UNITS * WIDTH];\n",
        "",
        "array[which] + (part * units + unit) * width",
    ),
    ("C", "rows"): (
        "static double** array[2];\n",
        "  for (int which = 0; which < 2; ++which) {\n"
        "    array[which] = malloc(units * sizeof(double*));\n"
        "    for (size_t unit = 0; unit < units; ++unit) {\n"
        "      array[which][unit] = malloc(width * sizeof(double)); // made\n"
        "    }\n"
        "  }\n",
        "array[which][unit]",
    ),
    ("C++", "rows"): (
        "static std::vector<std::vector<double>> array[2];\n",
        "  array[0].assign(units, std::vector<double>(width)); // made, touch\n"
        "  array[1].assign(units, std::vector<double>(width)); // made, touch\n",
        "array[which][unit].data()",
    ),
}
STORES["C++", "static"] = STORES["C", "static"]

WRAPPER = """\
static double* make_array(size_t numbers) {
  return CAST malloc(numbers * sizeof(double));
}
"""
WRAPPED = """\
  array[0] = make_array(parts * units * width); // made
  array[1] = make_array(parts * units * width); // made
"""

UPDATES = {
    "plain": "row(0, part, unit)[i] = 0.5 * row(0, part, unit)[i] + row(1, part, unit)[i]",
    "ping-pong": "row(sweep % 2 == 0, part, unit)[i] = 0.5 * row(sweep % 2, part, unit)[i] + 1",
    "table": "row(0, part, unit)[i] = 0.5 * row(0, part, unit)[i] + row(1, part, unit)[i]"
    " + table[place_in_table(unit * width + i)]",
}
WHICH_UNIT = {
    "phases": "const size_t unit = sweep < sweeps / 2 ? k : units - 1 - k;",
    "shuffled": "const size_t unit = k * 2654435761U % units;",
}

OPENMP_LOOPS = {
    "static": """\
static void work_all(int sweep) {
#pragma omp parallel for schedule(static)
  for (size_t k = 0; k < units; ++k) {
    work(k, sweep);
  }
}
""",
    "dynamic": """\
static void work_all(int sweep) {
#pragma omp parallel for schedule(dynamic, CHUNK)
  for (size_t k = 0; k < units; ++k) {
    work(k, sweep);
  }
}
""",
    "tasks": """\
static void work_all(int sweep) {
#pragma omp parallel
#pragma omp single
#pragma omp taskloop grainsize(CHUNK)
  for (size_t k = 0; k < units; ++k) {
    work(k, sweep);
  }
}
""",
    "nested": """\
static void work_all(int sweep) {
#pragma omp parallel for schedule(static) num_threads(4)
  for (int quarter = 0; quarter < 4; ++quarter) {
#pragma omp parallel for schedule(static) num_threads(2)
    for (size_t k = units * quarter / 4; k < units * (quarter + 1) / 4; ++k) {
      work(k, sweep);
    }
  }
}
""",
    "orphaned": """\
static void work_share(int sweep) {
#pragma omp for schedule(static)
  for (size_t k = 0; k < units; ++k) {
    work(k, sweep);
  }
}
static void work_all(int sweep) {
#pragma omp parallel
  work_share(sweep);
}
""",
    "oneTBB": """\
static void work_all(int sweep) {
  static tbb::task_arena arena(8);
  arena.execute([=] {
    tbb::parallel_for(
        tbb::blocked_range<size_t>(0, units),
        [=](const tbb::blocked_range<size_t>& some) {
          for (size_t k = some.begin(); k != some.end(); ++k) {
            work(k, sweep);
          }
        },
        tbb::static_partitioner());
  });
}
""",
}

PART_OF_A_THREAD = """\
static void work_part(size_t worker, int sweep) {
  for (size_t k = units * worker / 8; k < units * (worker + 1) / 8; ++k) {
    work(k, sweep);
  }
}
"""
TEAMS = {
    ("C", "team once"): """\
static pthread_barrier_t all_here;
static void* work_through(void* worker) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    work_part((size_t)worker, sweep);
    pthread_barrier_wait(&all_here);
  }
  return NULL;
}
static void work_through_all(void) {
  pthread_t team[8];
  pthread_barrier_init(&all_here, NULL, 8);
  for (size_t k = 0; k < 8; ++k) {
    pthread_create(&team[k], NULL, work_through, (void*)k);
  }
  for (size_t k = 0; k < 8; ++k) {
    pthread_join(team[k], NULL);
  }
}
""",
    ("C", "team anew"): """\
static int present;
static void* work_once(void* worker) {
  work_part((size_t)worker, present);
  return NULL;
}
static void work_all(int sweep) {
  pthread_t team[8];
  present = sweep;
  for (size_t k = 0; k < 8; ++k) {
    pthread_create(&team[k], NULL, work_once, (void*)k);
  }
  for (size_t k = 0; k < 8; ++k) {
    pthread_join(team[k], NULL);
  }
}
""",
    ("C++", "team once"): """\
static void work_through_all() {
  std::barrier all_here(8);
  std::vector<std::jthread> team;
  for (size_t worker = 0; worker < 8; ++worker) {
    team.emplace_back([&all_here, worker] {
      for (int sweep = 0; sweep < sweeps; ++sweep) {
        work_part(worker, sweep);
        all_here.arrive_and_wait();
      }
    });
  }
}
""",
    ("C++", "team anew"): """\
static void work_all(int sweep) {
  std::vector<std::jthread> team;
  for (size_t worker = 0; worker < 8; ++worker) {
    team.emplace_back(work_part, worker, sweep);
  }
}
""",
}
EACH_SWEEP = """\
static void work_through_all(void) {
  for (int sweep = 0; sweep < sweeps; ++sweep) {
    work_all(sweep);
  }
}
"""

FILL = """\
static void fill(void) {
  for (size_t part = 0; part < parts; ++part) {
    for (size_t unit = 0; unit < units; ++unit) {
      for (size_t i = 0; i < width; ++i) {
        row(0, part, unit)[i] = (double)(unit + i); // touch
        row(1, part, unit)[i] = 1; // touch
      }
    }
  }
}
"""
SUM = """\
static double sum(void) {
  double all = 0;
  for (size_t part = 0; part < parts; ++part) {
    for (size_t unit = 0; unit < units; ++unit) {
      for (size_t i = 0; i < width; ++i) {
        all += row(0, part, unit)[i];
      }
    }
  }
  return all;
}
"""
TABLE = """\
enum { table_numbers = 1 << 18 };
static double* table;
/* In no order. With an even stride, a table that is larger than a cache hits or misses by how its pages
   happen to share the cache's sets, which is another number in each run. */
static inline size_t place_in_table(size_t k) {
  return k * (k + 1) / 2 % table_numbers;
}
static void make_table(void) {
  table = CAST malloc(table_numbers * sizeof(double)); // made
  for (size_t i = 0; i < table_numbers; ++i) {
    table[i] = (double)i; // touch
  }
}
"""


def work_text(spec: Spec) -> str:
    update = UPDATES.get(spec.use, UPDATES["plain"])
    unit = WHICH_UNIT.get(spec.use, "const size_t unit = k;")
    return f"""\
static void work(size_t k, int sweep) {{
  (void)sweep;
  {unit}
  for (size_t part = 0; part < parts; ++part) {{
    for (size_t i = 0; i < width; ++i) {{
      {update}; // use
    }}
  }}
}}
"""


def parallel_text(spec: Spec) -> str:
    if spec.work in OPENMP_LOOPS:
        return OPENMP_LOOPS[spec.work].replace("CHUNK", str(max(1, spec.units // 64))) + EACH_SWEEP
    through = "" if spec.work == "team once" else EACH_SWEEP
    return PART_OF_A_THREAD + TEAMS[spec.language, spec.work] + through


def main_text(spec: Spec) -> str:
    lines = ["omp_set_max_active_levels(2);"] if spec.work == "nested" else []
    lines += ["allocate();"]
    lines += ["make_table();"] if spec.use == "table" else []
    lines += ["fill();", "work_through_all();"]
    if spec.use == "check at the end":
        lines.append('fprintf(stderr, "sum %g\\n", sum());')
    else:
        lines.append('fprintf(stderr, "first %g\\n", row(0, 0, 0)[0]);')
    return "int main(void) {\n" + "".join(f"  {line}\n" for line in lines) + "  return 0;\n}\n"


def source(spec: Spec) -> str:
    wrapped = spec.made == "by a wrapper"
    store, allocate, row = STORES["C" if wrapped else spec.language, spec.store]
    parts = 5 if spec.use == "components" else 1
    units = spec.units // parts
    cast = "" if spec.language == "C" else "(double*)"
    text = f"/* {spec} */\n" + HEADERS
    text += "#include <vector>\n" if spec.language == "C++" else ""
    text += "#include <omp.h>\n" if spec.work == "nested" else ""
    text += MORE_HEADERS.get((spec.language, spec.work), "")
    text += f"#define PARTS {parts}\n#define UNITS {units}\n#define WIDTH {spec.width}\n"
    text += "static const size_t parts = PARTS, units = UNITS, width = WIDTH;\n"
    text += f"enum {{ sweeps = {spec.sweeps} }};\n" + store
    text += (WRAPPER + f"static void allocate(void) {{\n{WRAPPED}}}\n" if wrapped
             else f"static void allocate(void) {{\n{allocate}}}\n")
    text += "static inline double* row(int which, size_t part, size_t unit) {\n  (void)part;\n"
    text += f"  return {row};\n}}\n" + (TABLE if spec.use == "table" else "") + FILL
    text += SUM if spec.use == "check at the end" else ""
    return (text + work_text(spec) + parallel_text(spec) + main_text(spec)).replace("CAST ", cast)
