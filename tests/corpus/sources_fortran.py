# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A program of the corpus in Fortran; the marks are those of sources_c.py."""

from axes import Spec

STORES = {
    "flat": ("  real(8), allocatable :: a(:, :), b(:, :)\n",
             "  allocate(a(width, parts * units)) ! made\n  allocate(b(width, parts * units)) ! made\n",
             "{}(i, row)"),
    "static": ("  real(8), save :: a(width, parts * units), b(width, parts * units)\n", "", "{}(i, row)"),
    "rows": ("  type row_of_numbers\n    real(8), allocatable :: v(:)\n  end type\n"
             "  type(row_of_numbers), allocatable :: a(:), b(:)\n",
             "  allocate(a(units), b(units))\n"
             "  do k = 1, units\n    allocate(a(k)%v(width)) ! made\n  end do\n"
             "  do k = 1, units\n    allocate(b(k)%v(width)) ! made\n  end do\n",
             "{}(row)%v(i)"),
}  # fmt: skip
UNIT = {
    "phases": "unit = merge(k, units + 1 - k, sweep < sweeps / 2)",
    "shuffled": "unit = int(mod((k - 1_8) * 40503_8, int(units, 8)), 4) + 1",
}
DIRECTIVES = {
    "static": ("    !$omp parallel do schedule(static)\n", "    !$omp end parallel do\n"),
    "dynamic": ("    !$omp parallel do schedule(dynamic, {chunk})\n", "    !$omp end parallel do\n"),
    "orphaned": ("    !$omp do schedule(static)\n", "    !$omp end do\n"),
}


# In no order: see the table in C.
TABLE = """\
  pure integer function place_in_table(k)
    integer(8), intent(in) :: k
    place_in_table = int(mod(k * (k + 1) / 2, int(table_numbers, 8)), 4) + 1
  end function
"""


def update(spec: Spec, a: str, b: str) -> str:
    if spec.use == "ping-pong":
        return (f"if (mod(sweep, 2) == 0) then\n          {b} = 0.5d0 * {a} + 1 ! use\n"
                f"        else\n          {a} = 0.5d0 * {b} + 1 ! use\n        end if")  # fmt: skip
    more = " + table(place_in_table((unit - 1_8) * width + i))" if spec.use == "table" else ""
    return f"{a} = 0.5d0 * {a} + {b}{more} ! use"


def work_text(spec: Spec, a: str, b: str) -> str:
    """A subroutine `work_all`, which orphaned worksharing calls in a parallel region."""
    if spec.work == "workshare":
        into, of, plus = ("b", "a", "1") if spec.use == "ping-pong" else ("a", "a", "b")
        return ("  subroutine work_all(sweep)\n    integer, intent(in) :: sweep\n"
                "    if (sweep < 0) return\n    !$omp parallel workshare\n"
                f"    {into} = 0.5d0 * {of} + {plus} ! use\n"
                "    !$omp end parallel workshare\n  end subroutine\n")  # fmt: skip
    begin, end = (each.format(chunk=max(1, spec.units // 64)) for each in DIRECTIVES[spec.work])
    private = "    integer :: k\n"
    call = "      call work(k, sweep)\n"
    return ("  subroutine work_all(sweep)\n    integer, intent(in) :: sweep\n" + private + begin +
            "    do k = 1, units\n" + call + "    end do\n" + end + "  end subroutine\n"
            "  subroutine work(k, sweep)\n    integer, intent(in) :: k, sweep\n"
            "    integer :: unit, part, i, row\n    unit = k\n    if (sweep < 0) return\n"
            f"    {UNIT.get(spec.use, 'unit = k')}\n    do part = 0, parts - 1\n"
            f"      row = part * units + unit\n      do i = 1, width\n        {update(spec, a, b)}\n"
            "      end do\n    end do\n  end subroutine\n")  # fmt: skip


def source(spec: Spec) -> str:
    declared, allocate, element = STORES[spec.store]
    a, b = element.format("a"), element.format("b")
    parts = 5 if spec.use == "components" else 1
    call = "call work_all(sweep)"
    if spec.work == "orphaned":
        call = "!$omp parallel\n    call work_all(sweep)\n    !$omp end parallel"
    text = f"! {spec.language}, {spec.work}, {spec.store}, {spec.use}\nprogram corpus\n  implicit none\n"
    text += f"  integer, parameter :: parts = {parts}, units = {spec.units // parts}, width = {spec.width}\n"
    text += f"  integer, parameter :: sweeps = {spec.sweeps}, table_numbers = 262144\n" + declared
    text += "  real(8), allocatable :: table(:)\n" if spec.use == "table" else ""
    text += "  integer :: sweep, k, row, i\n" + allocate
    if spec.use == "table":
        text += "  allocate(table(table_numbers)) ! made\n  table = 1 ! touch\n"
    text += "  k = 0\n  do row = 1, parts * units\n    do i = 1, width\n"
    text += f"      {a} = row + i ! touch\n      {b} = 1 ! touch\n    end do\n  end do\n"
    text += f"  do sweep = 0, sweeps - 1\n    {call}\n  end do\n"
    if spec.use == "check at the end":
        first = element.format("a").replace("(i, row)", "").replace("(row)%v(i)", "")
        total = f"sum({first})" if spec.store != "rows" else f"sum([(sum({first}(k)%v), k = 1, units)])"
        text += f"  write (0, *) 'sum', {total}\n"
    else:
        text += "  row = 1\n  i = 1\n" + f"  write (0, *) 'first', {a}\n"
    text += "contains\n" + work_text(spec, a, b) + (TABLE if spec.use == "table" else "")
    return text + "end program\n"
