! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! A sparse matrix from arrays, with OpenMP's threads; docs/sparse.md shows it. Each row has 4 at the
! diagonal and -1 beside it.
program matrix
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use nodewise
  use nodewise_sparse
  implicit none
  integer(int64), parameter :: n = 100000
  integer(int64) :: row_starts(n + 1)
  integer(int32) :: column_indices(3 * n)
  real(real64) :: values(3 * n), expected(n)
  type(nodewise_layout) :: layout
  type(nodewise_teams) :: teams
  type(nodewise_matrix) :: a, b
  type(nodewise_distribution) :: by_rows, by_columns
  type(nodewise_memory) :: x_memory, y_memory
  type(nodewise_residency) :: where
  real(real64), pointer :: x(:), y(:)
  integer(int64) :: last
  integer :: stat

  last = entries_of_rows()
  call nodewise_make_layout(layout) ! a thread for each core
  call nodewise_make_teams(teams, layout)
  call nodewise_copy_matrix(a, teams, n, row_starts, column_indices(:last), values(:last))
  call nodewise_by_columns(by_columns, a)
  call nodewise_by_rows(by_rows, a)
  call nodewise_allocate(x, n, by_columns, x_memory)
  call nodewise_allocate(y, n, by_rows, y_memory)
  x = 1
  call nodewise_multiply(teams, a, x, y)                 ! y = A x
  call nodewise_multiply_add(teams, 0.5_real64, a, x, y) ! y = y + 0.5 A x
  print '(a)', nodewise_matrix_strip(a, 32)

  expected = 3
  expected([1_int64, n]) = 4.5_real64
  if (any(abs(y - expected) > 0)) error stop 'a wrong product'
  if (nodewise_matrix_rows(a) /= n .or. nodewise_matrix_columns(a) /= n .or. &
    nodewise_matrix_entries(a) /= last) error stop 'wrong sizes'
  call nodewise_matrix_where(a, where)
  if (where%resident /= where%pages .or. where%pages == 0) error stop 'pages are missing'

  call nodewise_multiply(teams, a, x(2:), y, stat)
  if (stat == 0 .or. index(nodewise_error(), '99999') == 0) error stop 'a short vector is accepted'
  call nodewise_multiply(teams, a, y, y, stat) ! a copy of either would hide that they overlap
  if (stat == 0 .or. index(nodewise_error(), 'overlap') == 0) error stop 'vectors were copied'
  call nodewise_copy_matrix(b, teams, n, row_starts, column_indices(:last - 1), values(:last), stat)
  if (stat == 0) error stop 'a missing column is accepted'
  call nodewise_read_matrix(b, teams, 'does not exist.mtx', stat=stat)
  if (stat == 0) error stop 'a missing file is accepted'
  call adopt_and_read_single()
  call check_other_products()
  call check_symmetric_product()

  call nodewise_free_matrix(a)
  call nodewise_free_teams(teams)
  call nodewise_deallocate(x_memory)
  call nodewise_deallocate(y_memory)
  call nodewise_free(by_rows)
  call nodewise_free(by_columns)
  call nodewise_free(layout)

contains

  !> Fills the arrays, which count from 1, and returns the number of entries.
  integer(int64) function entries_of_rows() result(entry)
    integer(int32) :: row, column

    entry = 0
    row_starts(1) = 1
    do row = 1, int(n, int32)
      do column = max(row - 1, 1), min(row + 1, int(n, int32))
        entry = entry + 1
        column_indices(entry) = column
        values(entry) = merge(4, -1, column == row)
      end do
      row_starts(row + 1) = entry + 1
    end do
  end function entries_of_rows

  !> The same small matrix twice: (2 0; 1 3).
  subroutine adopt_and_read_single()
    integer(int64), target :: starts(3) = [0, 1, 3]
    integer(int32), target :: columns(3) = [0, 0, 1]
    real(real32), target :: entries(3) = [2, 1, 3]
    real(real32) :: z(2)
    type(nodewise_matrix) :: adopted, read
    character(len=*), parameter :: file = 'nodewise_matrix.mtx'
    integer :: unit

    call nodewise_adopt_matrix(adopted, teams, 2_int64, starts, columns, entries)
    call nodewise_multiply(teams, adopted, [1.0_real32, 1.0_real32], z)
    if (any(abs(z - [2, 4]) > 0)) error stop 'a wrong product of an adopted matrix'
    call nodewise_free_matrix(adopted)

    open (newunit=unit, file=file, status='replace', action='write')
    write (unit, '(a)') '%%MatrixMarket matrix coordinate real general', '2 2 3', '1 1 2', '2 1 1', &
      '2 2 3'
    close (unit)
    call nodewise_read_matrix(read, teams, file, single=.true.)
    call nodewise_multiply_add(teams, 2.0_real32, read, [1.0_real32, 1.0_real32], z)
    if (any(abs(z - [6, 12]) > 0)) error stop 'a wrong product of a matrix from a file'
    call nodewise_free_matrix(read)
    open (newunit=unit, file=file, status='old')
    close (unit, status='delete')
  end subroutine adopt_and_read_single

  !> A times ones by SELL-C-sigma, for two vectors at once, and by the transposed matrix, which is A.
  subroutine check_other_products()
    real(real64), allocatable :: xs(:, :), ys(:, :), other(:, :)
    type(nodewise_matrix) :: sell
    type(nodewise_product) :: transposed

    expected = expected / 1.5_real64
    call nodewise_convert_to_sell(sell, teams, a, chunk_rows=8)
    call nodewise_multiply(teams, sell, x, y)
    if (any(abs(y - expected) > 0)) error stop 'a wrong product by SELL-C-sigma'
    if (nodewise_matrix_occupancy(sell) < 0.99) error stop 'most rows have three entries'

    allocate (xs(2, n), ys(2, n), other(4, n / 2))
    xs(1, :) = 1
    xs(2, :) = 2
    call nodewise_multiply_many(teams, a, xs, ys)
    if (any(abs(ys(1, :) - expected) > 0) .or. any(abs(ys(2, :) - 2 * expected) > 0)) &
      error stop 'a wrong product of two vectors'
    call nodewise_multiply_many(teams, a, xs, other, stat)
    if (stat == 0) error stop 'another number of results is accepted'
    call nodewise_multiply_many(teams, sell, xs, ys, stat)
    if (stat == 0 .or. index(nodewise_error(), 'SELL-C-sigma') == 0) error stop 'SELL is accepted'

    call nodewise_make_transposed(transposed, teams, a)
    y = 0
    call nodewise_multiply(teams, transposed, x, y)
    if (any(abs(y - expected) > 0)) error stop 'a wrong product with the transposed matrix'
    call nodewise_free_product(transposed)
    call nodewise_free_matrix(sell)
  end subroutine check_other_products

  !> By the upper half of (2 1; 1 3).
  subroutine check_symmetric_product()
    real(real32) :: z(2)
    type(nodewise_matrix) :: upper
    type(nodewise_product) :: whole

    call nodewise_copy_matrix(upper, teams, 2_int64, [1_int64, 3_int64, 4_int64], &
      [1_int32, 2_int32, 2_int32], [2.0_real32, 1.0_real32, 3.0_real32])
    call nodewise_make_symmetric(whole, teams, upper)
    call nodewise_multiply(teams, whole, [1.0_real32, 10.0_real32], z)
    if (any(abs(z - [12, 31]) > 0)) error stop 'a wrong product with a symmetric matrix'
    call nodewise_free_product(whole)
    call nodewise_free_matrix(upper)
  end subroutine check_symmetric_product

end program matrix
