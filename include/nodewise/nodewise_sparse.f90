! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! Sparse matrices for Fortran 2008, over sparse.h: compile nodewise.f90, nodewise_matrices.f90 and
! this file with your program, with OpenMP, and link -lnodewise.
!
! Without OpenMP, one thread does the work of all workers. Errors and `stat` are as in nodewise.f90;
! messages count rows and columns from 0. Matrices are made by what nodewise_matrices.f90 has.
module nodewise_sparse
  use, intrinsic :: iso_c_binding, only: c_double, c_float, c_int, c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: real32, real64
  use nodewise, only: check => nodewise_check
  use nodewise_matrices
  implicit none
  private
  public :: nodewise_adopt_matrix, nodewise_by_columns, nodewise_by_rows, nodewise_convert_to_sell, &
    nodewise_copy_matrix, nodewise_free_matrix, nodewise_free_teams, nodewise_make_teams, &
    nodewise_matrix, nodewise_matrix_columns, nodewise_matrix_entries, nodewise_matrix_occupancy, &
    nodewise_matrix_rows, nodewise_matrix_strip, nodewise_matrix_where, nodewise_read_matrix, &
    nodewise_teams
  public :: nodewise_free_product, nodewise_make_symmetric, nodewise_make_transposed, &
    nodewise_multiply, nodewise_multiply_add, nodewise_multiply_many, nodewise_product

  !> The product with a transposed matrix or a symmetric one. It refers to the matrix, which must
  !> outlive it, and holds a buffer for each worker: it serves one product at a time.
  type :: nodewise_product
    private
    type(c_ptr) :: handle = c_null_ptr
  end type nodewise_product

  !> `call nodewise_multiply(teams, a, x, y)`: y = A x; each row is computed by its owner. `a` is a
  !> matrix, or a product that nodewise_make_transposed or nodewise_make_symmetric made.
  interface nodewise_multiply
    module procedure multiply_real64, multiply_real32, multiply_product_real64, &
      multiply_product_real32
  end interface nodewise_multiply

  !> `call nodewise_multiply_add(teams, factor, a, x, y)`: y = y + factor A x.
  interface nodewise_multiply_add
    module procedure multiply_add_real64, multiply_add_real32
  end interface nodewise_multiply_add

  !> `call nodewise_multiply_many(teams, a, x, y)`: y(k, :) = A x(k, :) for each k, the matrix is
  !> read once for all of them. Not for SELL-C-sigma.
  interface nodewise_multiply_many
    module procedure multiply_many_real64, multiply_many_real32
  end interface nodewise_multiply_many

  abstract interface
    integer(c_int) function product64(teams, matrix, x, x_elements, y, y_elements) bind(c)
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: teams, matrix
      integer(c_size_t), value :: x_elements, y_elements
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function product64
    integer(c_int) function product32(teams, matrix, x, x_elements, y, y_elements) bind(c)
      import :: c_float, c_int, c_ptr, c_size_t
      type(c_ptr), value :: teams, matrix
      integer(c_size_t), value :: x_elements, y_elements
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end function product32
    integer(c_int) function sum64(teams, factor, matrix, x, x_elements, y, y_elements) bind(c)
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: teams, matrix
      integer(c_size_t), value :: x_elements, y_elements
      real(c_double), value :: factor
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function sum64
    integer(c_int) function sum32(teams, factor, matrix, x, x_elements, y, y_elements) bind(c)
      import :: c_float, c_int, c_ptr, c_size_t
      type(c_ptr), value :: teams, matrix
      integer(c_size_t), value :: x_elements, y_elements
      real(c_float), value :: factor
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end function sum32
    integer(c_int) function many64(teams, matrix, count, x, x_elements, y, y_elements) bind(c)
      import :: c_double, c_int, c_ptr, c_size_t
      type(c_ptr), value :: teams, matrix
      integer(c_size_t), value :: count, x_elements, y_elements
      real(c_double), intent(in) :: x(*)
      real(c_double), intent(inout) :: y(*)
    end function many64
    integer(c_int) function many32(teams, matrix, count, x, x_elements, y, y_elements) bind(c)
      import :: c_float, c_int, c_ptr, c_size_t
      type(c_ptr), value :: teams, matrix
      integer(c_size_t), value :: count, x_elements, y_elements
      real(c_float), intent(in) :: x(*)
      real(c_float), intent(inout) :: y(*)
    end function many32
    integer(c_int) function product_of(made, teams, matrix) bind(c)
      import :: c_int, c_ptr
      type(c_ptr), intent(inout) :: made
      type(c_ptr), value :: teams, matrix
    end function product_of
    subroutine free_handle(handle) bind(c)
      import :: c_ptr
      type(c_ptr), value :: handle
    end subroutine free_handle
  end interface

  procedure(product64), bind(c, name='nodewise_multiply') :: multiply_c
  procedure(product32), bind(c, name='nodewise_multiply_float') :: multiply_float_c
  procedure(sum64), bind(c, name='nodewise_multiply_add') :: multiply_add_c
  procedure(sum32), bind(c, name='nodewise_multiply_add_float') :: multiply_add_float_c
  procedure(many64), bind(c, name='nodewise_multiply_many') :: multiply_many_c
  procedure(many32), bind(c, name='nodewise_multiply_many_float') :: multiply_many_float_c
  procedure(product_of), bind(c, name='nodewise_transposed_make') :: transposed_c
  procedure(product_of), bind(c, name='nodewise_symmetric_make') :: symmetric_c
  procedure(free_handle), bind(c, name='nodewise_product_free') :: product_free_c
  procedure(product64), bind(c, name='nodewise_product_multiply') :: multiply_product_c
  procedure(product32), bind(c, name='nodewise_product_multiply_float') :: multiply_product_float_c

contains

  ! Vectors are not CONTIGUOUS: GCC copies what a pointer points to if they are.
  subroutine multiply_real64(teams, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: a
    real(real64), intent(in) :: x(:)
    real(real64), intent(inout) :: y(:)
    integer, intent(out), optional :: stat

    call check(multiply_c(teams%handle, a%handle, x, size(x, kind=c_size_t), y, &
      size(y, kind=c_size_t)), stat)
  end subroutine multiply_real64

  subroutine multiply_real32(teams, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: a
    real(real32), intent(in) :: x(:)
    real(real32), intent(inout) :: y(:)
    integer, intent(out), optional :: stat

    call check(multiply_float_c(teams%handle, a%handle, x, size(x, kind=c_size_t), y, &
      size(y, kind=c_size_t)), stat)
  end subroutine multiply_real32

  subroutine multiply_add_real64(teams, factor, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    real(real64), intent(in) :: factor
    type(nodewise_matrix), intent(in) :: a
    real(real64), intent(in) :: x(:)
    real(real64), intent(inout) :: y(:)
    integer, intent(out), optional :: stat

    call check(multiply_add_c(teams%handle, factor, a%handle, x, size(x, kind=c_size_t), y, &
      size(y, kind=c_size_t)), stat)
  end subroutine multiply_add_real64

  subroutine multiply_add_real32(teams, factor, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    real(real32), intent(in) :: factor
    type(nodewise_matrix), intent(in) :: a
    real(real32), intent(in) :: x(:)
    real(real32), intent(inout) :: y(:)
    integer, intent(out), optional :: stat

    call check(multiply_add_float_c(teams%handle, factor, a%handle, x, size(x, kind=c_size_t), y, &
      size(y, kind=c_size_t)), stat)
  end subroutine multiply_add_real32

  subroutine multiply_many_real64(teams, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: a
    real(real64), intent(in) :: x(:, :)
    real(real64), intent(inout) :: y(:, :)
    integer, intent(out), optional :: stat

    call check(multiply_many_c(teams%handle, a%handle, size(x, 1, kind=c_size_t), x, &
      size(x, kind=c_size_t), y, results_in(shape(y, kind=c_size_t), size(x, 1))), stat)
  end subroutine multiply_many_real64

  subroutine multiply_many_real32(teams, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: a
    real(real32), intent(in) :: x(:, :)
    real(real32), intent(inout) :: y(:, :)
    integer, intent(out), optional :: stat

    call check(multiply_many_float_c(teams%handle, a%handle, size(x, 1, kind=c_size_t), x, &
      size(x, kind=c_size_t), y, results_in(shape(y, kind=c_size_t), size(x, 1))), stat)
  end subroutine multiply_many_real32

  !> Another number of results than of vectors is an error, also if it is right for all together.
  pure integer(c_size_t) function results_in(shape_of_y, vectors)
    integer(c_size_t), intent(in) :: shape_of_y(2)
    integer, intent(in) :: vectors

    results_in = merge(product(shape_of_y), 0_c_size_t, shape_of_y(1) == vectors)
  end function results_in

  !> Makes the product with a transposed matrix in compressed rows.
  subroutine nodewise_make_transposed(made, teams, a, stat)
    type(nodewise_product), intent(inout) :: made
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: a
    integer, intent(out), optional :: stat

    call check(transposed_c(made%handle, teams%handle, a%handle), stat)
  end subroutine nodewise_make_transposed

  !> Makes the product with a symmetric matrix in compressed rows of which `upper` has the upper
  !> half: each entry right of the diagonal also counts as its mirror image.
  subroutine nodewise_make_symmetric(made, teams, upper, stat)
    type(nodewise_product), intent(inout) :: made
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_matrix), intent(in) :: upper
    integer, intent(out), optional :: stat

    call check(symmetric_c(made%handle, teams%handle, upper%handle), stat)
  end subroutine nodewise_make_symmetric

  !> Gives a product back; the matrix stays.
  subroutine nodewise_free_product(made)
    type(nodewise_product), intent(inout) :: made

    call product_free_c(made%handle)
    made%handle = c_null_ptr
  end subroutine nodewise_free_product

  subroutine multiply_product_real64(teams, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_product), intent(in) :: a
    real(real64), intent(in) :: x(:)
    real(real64), intent(inout) :: y(:)
    integer, intent(out), optional :: stat

    call check(multiply_product_c(teams%handle, a%handle, x, size(x, kind=c_size_t), y, &
      size(y, kind=c_size_t)), stat)
  end subroutine multiply_product_real64

  subroutine multiply_product_real32(teams, a, x, y, stat)
    type(nodewise_teams), intent(in) :: teams
    type(nodewise_product), intent(in) :: a
    real(real32), intent(in) :: x(:)
    real(real32), intent(inout) :: y(:)
    integer, intent(out), optional :: stat

    call check(multiply_product_float_c(teams%handle, a%handle, x, size(x, kind=c_size_t), y, &
      size(y, kind=c_size_t)), stat)
  end subroutine multiply_product_real32

end module nodewise_sparse
