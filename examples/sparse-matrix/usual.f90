! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! sparse-matrix, y = y + A x by compressed rows, as it is usually written: one thread builds the
! matrix and clears the result; all threads multiply.
!
! usage: sparse-matrix-f [rows] [sweeps]
program sparse_matrix
  use command_line
  implicit none
  character(len=*), parameter :: name = "sparse-matrix-f", usage = "[rows] [sweeps]"
  integer, allocatable :: row_ptr(:), col_idx(:)
  real(real64), allocatable :: val(:), x(:), y(:)
  integer :: n, row, k, sweep, sweeps
  real(real64) :: start, total

  n = 16 + number_at(name, usage, 1, 131072, 2**26, 2)
  sweeps = number_at(name, usage, 2, 3, 1000000, 2)
  allocate (row_ptr(n + 1)) ! made: row_ptr
  allocate (col_idx(sum([(length_of(row), row=1, n)]))) ! made: col_idx
  allocate (val(size(col_idx))) ! made: val
  allocate (x(n)) ! made: x
  allocate (y(n)) ! made: y

  row_ptr(1) = 1
  do row = 1, n
    row_ptr(row + 1) = row_ptr(row) + length_of(row) ! touch: row_ptr
  end do
  do row = 1, n
    call fill_row(row)
    x(row) = mod(row - 1, 4) ! touch: x
    y(row) = 0               ! touch: y
  end do

  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static) private(total)
    do row = 1, n
      total = 0
      do k = row_ptr(row), row_ptr(row + 1) - 1
        total = total + val(k) * x(col_idx(k)) ! use
      end do
      y(row) = y(row) + total ! use
    end do
  end do
  start = omp_get_wtime() - start
  total = 0
  !$omp parallel do schedule(static) reduction(+: total)
  do row = 1, n
    total = total + y(row)
  end do
  call print_result(name, total, sweeps, start)

contains

  pure integer function length_of(row)
    integer, intent(in) :: row
    length_of = 8 + int(8_int64 * (row - 1) / n)
  end function length_of

  subroutine fill_row(row)
    integer, intent(in) :: row
    integer :: k, first, column
    first = row_ptr(row)
    column = min(max(row - length_of(row) / 2, 1), n - length_of(row) + 1)
    do k = first, row_ptr(row + 1) - 1
      col_idx(k) = column + k - first ! touch: col_idx
      val(k) = 1                      ! touch: val
    end do
  end subroutine fill_row
end program sparse_matrix
