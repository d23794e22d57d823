! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! The first part of nodewise_sparse.f90: teams and matrices, without products. Programs use module
! nodewise_sparse, which has all of this.
module nodewise_matrices
  use, intrinsic :: iso_c_binding, only: c_char, c_double, c_funloc, c_funptr, c_int, c_loc, &
    c_null_char, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: int32, int64, real32, real64
  use nodewise, only: check => nodewise_check, nodewise_distribution, nodewise_error, &
    nodewise_layout, nodewise_residency
  implicit none
  private
  public :: nodewise_adopt_matrix, nodewise_by_columns, nodewise_by_rows, nodewise_convert_to_sell, &
    nodewise_copy_matrix, nodewise_free_matrix, nodewise_free_teams, nodewise_make_teams, &
    nodewise_matrix, nodewise_matrix_columns, nodewise_matrix_entries, nodewise_matrix_occupancy, &
    nodewise_matrix_rows, nodewise_matrix_strip, nodewise_matrix_where, nodewise_read_matrix, &
    nodewise_teams

  !> The threads of OpenMP that run products, one for each thread of a layout.
  type :: nodewise_teams
    type(c_ptr) :: handle = c_null_ptr !< for nodewise_sparse.f90
  end type nodewise_teams

  !> A sparse matrix in compressed rows or in SELL-C-sigma, with values of real64 or real32.
  type :: nodewise_matrix
    type(c_ptr) :: handle = c_null_ptr !< for nodewise_sparse.f90
  end type nodewise_matrix

  type, bind(c) :: crs
    integer(c_size_t) :: rows, columns, entries
    type(c_ptr) :: row_starts, column_indices
  end type crs

  type, bind(c) :: sell_options
    integer(c_size_t) :: chunk_rows = 0, sorted_rows = 256
  end type sell_options

  !> `call nodewise_copy_matrix(a, teams, columns, row_starts, column_indices, values)`: the entries
  !> of row r are `row_starts(r)` up to `row_starts(r + 1) - 1`. Everything counts from 1, or from 0
  !> if `row_starts(1)` is 0. Workers copy their own rows.
  interface nodewise_copy_matrix
    module procedure copy_real64, copy_real32
  end interface nodewise_copy_matrix

  !> The same without a copy: the pages of the arrays migrate to the owners of the rows. The arrays
  !> must be contiguous, count from 0, outlive the matrix and keep their contents, except the values.
  interface nodewise_adopt_matrix
    module procedure adopt_real64, adopt_real32
  end interface nodewise_adopt_matrix

  abstract interface
    subroutine part_c(work, worker) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: work
      integer(c_size_t), value :: worker
    end subroutine part_c
    integer(c_int) function teams_make(made, layout, run) bind(c)
      import :: c_funptr, c_int, c_ptr
      type(c_ptr), intent(inout) :: made
      type(c_ptr), value :: layout
      type(c_funptr), value :: run
    end function teams_make
    integer(c_int) function from_arrays(made, teams, rows, values) bind(c)
      import :: c_int, c_ptr, crs
      type(c_ptr), intent(inout) :: made
      type(c_ptr), value :: teams, values
      type(crs), intent(in) :: rows
    end function from_arrays
    integer(c_int) function from_matrix(made, teams, from, options) bind(c)
      import :: c_int, c_ptr, sell_options
      type(c_ptr), intent(inout) :: made
      type(c_ptr), value :: teams, from
      type(sell_options), intent(in) :: options
    end function from_matrix
    integer(c_int) function from_file(made, teams, path) bind(c)
      import :: c_char, c_int, c_ptr
      type(c_ptr), intent(inout) :: made
      type(c_ptr), value :: teams
      character(kind=c_char), intent(in) :: path(*)
    end function from_file
    subroutine free_handle(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine free_handle
    pure integer(c_size_t) function count_of(matrix) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: matrix
    end function count_of
    pure real(c_double) function share_of(matrix) bind(c)
      import :: c_double, c_ptr
      type(c_ptr), value :: matrix
    end function share_of
    integer(c_int) function distribution_of(made, matrix) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: made
      type(c_ptr), value :: matrix
    end function distribution_of
    integer(c_int) function residency_of(matrix, found) bind(c)
      import :: c_int, c_ptr, nodewise_residency
      type(c_ptr), value :: matrix
      type(nodewise_residency), intent(inout) :: found
    end function residency_of
    integer(c_int) function picture_of(matrix, columns, text, room) bind(c)
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: matrix
      integer(c_size_t), value :: columns, room
      character(kind=c_char), intent(inout) :: text(*)
    end function picture_of
  end interface

  procedure(teams_make), bind(c, name='nodewise_teams_make') :: teams_make_c
  procedure(free_handle), bind(c, name='nodewise_teams_free') :: teams_free_c
  procedure(from_arrays), bind(c, name='nodewise_matrix_copy') :: copy_c
  procedure(from_arrays), bind(c, name='nodewise_matrix_copy_float') :: copy_float_c
  procedure(from_arrays), bind(c, name='nodewise_matrix_adopt') :: adopt_c
  procedure(from_arrays), bind(c, name='nodewise_matrix_adopt_float') :: adopt_float_c
  procedure(from_file), bind(c, name='nodewise_matrix_read') :: read_c
  procedure(from_file), bind(c, name='nodewise_matrix_read_float') :: read_float_c
  procedure(from_matrix), bind(c, name='nodewise_matrix_sell') :: sell_c
  procedure(free_handle), bind(c, name='nodewise_matrix_free') :: matrix_free_c
  procedure(count_of), bind(c, name='nodewise_matrix_rows') :: rows_c
  procedure(count_of), bind(c, name='nodewise_matrix_columns') :: columns_c
  procedure(count_of), bind(c, name='nodewise_matrix_entries') :: entries_c
  procedure(share_of), bind(c, name='nodewise_matrix_occupancy') :: occupancy_c
  procedure(distribution_of), bind(c, name='nodewise_by_rows') :: by_rows_c
  procedure(distribution_of), bind(c, name='nodewise_by_columns') :: by_columns_c
  procedure(residency_of), bind(c, name='nodewise_matrix_where') :: where_c
  procedure(picture_of), bind(c, name='nodewise_matrix_strip') :: strip_c

contains

  !> Makes teams of the program's OpenMP threads. Each is bound by the layout while it works, which
  !> costs tens of microseconds for each call unless nodewise_bind_thread has bound it before.
  subroutine nodewise_make_teams(teams, layout, stat)
    type(nodewise_teams), intent(inout) :: teams
    type(nodewise_layout), intent(in) :: layout
    integer, intent(out), optional :: stat

    call check(teams_make_c(teams%handle, layout%handle, c_funloc(run_openmp)), stat)
  end subroutine nodewise_make_teams

  !> Gives teams back.
  subroutine nodewise_free_teams(teams)
    type(nodewise_teams), intent(inout) :: teams

    call teams_free_c(teams%handle)
    teams%handle = c_null_ptr
  end subroutine nodewise_free_teams

  subroutine copy_real64(a, teams, columns, row_starts, column_indices, values, stat)
    type(nodewise_matrix), intent(inout) :: a
    type(nodewise_teams), intent(in) :: teams
    integer(int64), intent(in) :: columns
    integer(int64), intent(in), contiguous, target :: row_starts(:)
    integer(int32), intent(in), contiguous, target :: column_indices(:)
    real(real64), intent(in), contiguous, target :: values(:)
    integer, intent(out), optional :: stat

    call check(copy_c(a%handle, teams%handle, crs_of(columns, row_starts, column_indices, &
      size(values, kind=c_size_t)), c_loc(values)), stat)
  end subroutine copy_real64

  subroutine copy_real32(a, teams, columns, row_starts, column_indices, values, stat)
    type(nodewise_matrix), intent(inout) :: a
    type(nodewise_teams), intent(in) :: teams
    integer(int64), intent(in) :: columns
    integer(int64), intent(in), contiguous, target :: row_starts(:)
    integer(int32), intent(in), contiguous, target :: column_indices(:)
    real(real32), intent(in), contiguous, target :: values(:)
    integer, intent(out), optional :: stat

    call check(copy_float_c(a%handle, teams%handle, crs_of(columns, row_starts, column_indices, &
      size(values, kind=c_size_t)), c_loc(values)), stat)
  end subroutine copy_real32

  subroutine adopt_real64(a, teams, columns, row_starts, column_indices, values, stat)
    type(nodewise_matrix), intent(inout) :: a
    type(nodewise_teams), intent(in) :: teams
    integer(int64), intent(in) :: columns
    integer(int64), intent(in), pointer, contiguous :: row_starts(:)
    integer(int32), intent(in), pointer, contiguous :: column_indices(:)
    real(real64), intent(in), pointer, contiguous :: values(:)
    integer, intent(out), optional :: stat

    call check(adopt_c(a%handle, teams%handle, crs_of(columns, row_starts, column_indices, &
      size(values, kind=c_size_t)), c_loc(values)), stat)
  end subroutine adopt_real64

  subroutine adopt_real32(a, teams, columns, row_starts, column_indices, values, stat)
    type(nodewise_matrix), intent(inout) :: a
    type(nodewise_teams), intent(in) :: teams
    integer(int64), intent(in) :: columns
    integer(int64), intent(in), pointer, contiguous :: row_starts(:)
    integer(int32), intent(in), pointer, contiguous :: column_indices(:)
    real(real32), intent(in), pointer, contiguous :: values(:)
    integer, intent(out), optional :: stat

    call check(adopt_float_c(a%handle, teams%handle, crs_of(columns, row_starts, column_indices, &
      size(values, kind=c_size_t)), c_loc(values)), stat)
  end subroutine adopt_real32

  !> Reads a Matrix Market file (.mtx) on all workers, as real64, or as real32 if `single` is true.
  subroutine nodewise_read_matrix(a, teams, path, single, stat)
    type(nodewise_matrix), intent(inout) :: a
    type(nodewise_teams), intent(in) :: teams
    character(len=*), intent(in) :: path
    logical, intent(in), optional :: single
    integer, intent(out), optional :: stat
    logical :: as_real32

    as_real32 = .false.
    if (present(single)) as_real32 = single
    if (as_real32) then
      call check(read_float_c(a%handle, teams%handle, trim(path) // c_null_char), stat)
    else
      call check(read_c(a%handle, teams%handle, trim(path) // c_null_char), stat)
    end if
  end subroutine nodewise_read_matrix

  !> Converts a matrix in compressed rows to SELL-C-sigma, for rows of a few entries: chunks of
  !> `chunk_rows` rows (up to 256; 0 or absent: 128 bytes of values), of which `sorted_rows` (256 if
  !> absent; 0: none) are sorted by length together. `from` may be freed then.
  subroutine nodewise_convert_to_sell(a, teams, from, chunk_rows, sorted_rows, stat)
    type(nodewise_matrix), intent(inout) :: a
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: from
    integer, intent(in), optional :: chunk_rows, sorted_rows
    integer, intent(out), optional :: stat
    type(sell_options) :: options

    if (present(chunk_rows)) options%chunk_rows = max(chunk_rows, 0)
    if (present(sorted_rows)) options%sorted_rows = max(sorted_rows, 0)
    call check(sell_c(a%handle, teams%handle, from%handle, options), stat)
  end subroutine nodewise_convert_to_sell

  !> Gives a matrix back; adopted arrays stay.
  subroutine nodewise_free_matrix(a)
    type(nodewise_matrix), intent(inout) :: a

    call matrix_free_c(a%handle)
    a%handle = c_null_ptr
  end subroutine nodewise_free_matrix

  !> The number of rows.
  pure integer(int64) function nodewise_matrix_rows(a)
    type(nodewise_matrix), intent(in) :: a

    nodewise_matrix_rows = rows_c(a%handle)
  end function nodewise_matrix_rows

  !> The number of columns.
  pure integer(int64) function nodewise_matrix_columns(a)
    type(nodewise_matrix), intent(in) :: a

    nodewise_matrix_columns = columns_c(a%handle)
  end function nodewise_matrix_columns

  !> The number of entries.
  pure integer(int64) function nodewise_matrix_entries(a)
    type(nodewise_matrix), intent(in) :: a

    nodewise_matrix_entries = entries_c(a%handle)
  end function nodewise_matrix_entries

  !> The share of the stored elements that are entries, below 1 if rows in SELL-C-sigma are padded.
  pure real(real64) function nodewise_matrix_occupancy(a)
    type(nodewise_matrix), intent(in) :: a

    nodewise_matrix_occupancy = occupancy_c(a%handle)
  end function nodewise_matrix_occupancy

  !> The distribution of a vector with an element for each row, such as y: with the owners of rows.
  subroutine nodewise_by_rows(by, a, stat)
    type(nodewise_distribution), intent(inout) :: by
    type(nodewise_matrix), intent(in) :: a
    integer, intent(out), optional :: stat

    call check(by_rows_c(by%handle, a%handle), stat)
  end subroutine nodewise_by_rows

  !> The distribution of a vector with an element for each column, such as x.
  subroutine nodewise_by_columns(by, a, stat)
    type(nodewise_distribution), intent(inout) :: by
    type(nodewise_matrix), intent(in) :: a
    integer, intent(out), optional :: stat

    call check(by_columns_c(by%handle, a%handle), stat)
  end subroutine nodewise_by_columns

  !> Where the pages of a matrix are, compared with the owners of the rows.
  subroutine nodewise_matrix_where(a, found, stat)
    type(nodewise_matrix), intent(in) :: a
    type(nodewise_residency), intent(out) :: found
    integer, intent(out), optional :: stat

    found = nodewise_residency(0, 0, 0, 0)
    call check(where_c(a%handle, found), stat)
  end subroutine nodewise_matrix_where

  !> The same as a picture, a line for each array of the matrix.
  function nodewise_matrix_strip(a, columns) result(text)
    type(nodewise_matrix), intent(in) :: a
    integer, intent(in) :: columns
    character(len=:), allocatable :: text

    text = repeat(' ', 4 * (columns + 256)) ! four arrays in SELL-C-sigma
    if (strip_c(a%handle, int(columns, c_size_t), text, len(text, kind=c_size_t)) /= 0) then
      text = nodewise_error()
    else
      text = text(:index(text, c_null_char) - 1)
    end if
  end function nodewise_matrix_strip

  !> If the arrays have different lengths, the row starts do not fit the shorter one: an error.
  type(crs) function crs_of(columns, row_starts, column_indices, values)
    integer(int64), intent(in) :: columns
    integer(int64), intent(in), contiguous, target :: row_starts(:)
    integer(int32), intent(in), contiguous, target :: column_indices(:)
    integer(c_size_t), intent(in) :: values

    crs_of%rows = max(size(row_starts, kind=c_size_t) - 1, 0_c_size_t)
    crs_of%columns = max(columns, 0_int64)
    crs_of%entries = min(size(column_indices, kind=c_size_t), values)
    crs_of%row_starts = c_loc(row_starts)
    crs_of%column_indices = c_loc(column_indices)
  end function crs_of

  subroutine run_openmp(workers, part, work) bind(c)
    integer(c_size_t), value :: workers
    procedure(part_c) :: part
    type(c_ptr), value :: work
    integer(c_size_t) :: k

    !$omp parallel do num_threads(int(workers)) schedule(static, 1)
    do k = 0, workers - 1
      call part(work, k)
    end do
  end subroutine run_openmp

end module nodewise_matrices
