! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! stencil: Jacobi sweeps on a square, the mean of four neighbours. It begins with a product of sines,
! which each sweep makes smaller by a known factor. Built twice, as the kernels in C are.
!
! Remote share of the use phase, with n nodes: (n-1)/n; cured: 0, but for the columns at the edges of
! blocks.
!
! usage: stencil [points an edge] [sweeps, an even number]
#ifdef CURED
#define NAME "stencil-cured"
#else
#define NAME "stencil"
#endif
program stencil
  use, intrinsic :: iso_fortran_env, only: error_unit, real64
  use command_line
  implicit none
  character(len=*), parameter :: usage = "[points an edge] [sweeps]"
  real(real64), parameter :: pi = acos(-1.0_real64)
  real(real64), allocatable :: a(:, :), b(:, :)
  integer :: n, j, sweep, sweeps
  real(real64) :: start, factor, total, worst

  n = number_at(NAME, usage, 1, 1023, 30000, 2)
  sweeps = 2 * ((number_at(NAME, usage, 2, 4, 1000000, 2) + 1) / 2)
  allocate (a(0:n + 1, 0:n + 1)) ! made: a
  allocate (b(0:n + 1, 0:n + 1)) ! made: b

#ifdef CURED
  !$omp parallel do schedule(static)
#endif
  do j = 1, n
    call fill_column(j)
  end do
  call fill_column(0)
  call fill_column(n + 1)

  start = omp_get_wtime()
  do sweep = 1, sweeps, 2
    call relax(a, b)
    call relax(b, a)
  end do
  start = omp_get_wtime() - start

  factor = cos(pi / (n + 1))**sweeps
  worst = 0
  total = 0
  !$omp parallel do schedule(static) reduction(+: total) reduction(max: worst)
  do j = 1, n
    worst = max(worst, maxval(abs(a(:, j) - factor * sines(j))))
    total = total + sum(a(:, j))
  end do
  call print_result(NAME, total, sweeps, start)
  if (.not. worst <= 1e-10) then
    write (error_unit, '(2a, es10.3)') NAME, ": wrong: the largest error is ", worst
    stop 1, quiet=.true.
  end if

contains

  function sines(j)
    integer, intent(in) :: j
    real(real64) :: sines(0:n + 1)
    integer :: i
    sines = [(sin(pi * i / (n + 1)), i=0, n + 1)] * sin(pi * j / (n + 1))
  end function sines

  subroutine fill_column(j)
    integer, intent(in) :: j
    integer :: i
    do i = 0, n + 1
      a(i, j) = sin(pi * i / (n + 1)) * sin(pi * j / (n + 1)) ! touch: a
      b(i, j) = 0                                             ! touch: b
    end do
  end subroutine fill_column

  subroutine relax(from, to)
    real(real64), intent(in) :: from(0:, 0:)
    real(real64), intent(inout) :: to(0:, 0:)
    integer :: i, j
    !$omp parallel do schedule(static)
    do j = 1, n
      do i = 1, n
        to(i, j) = (from(i - 1, j) + from(i + 1, j) + from(i, j - 1) + from(i, j + 1)) / 4 ! use
      end do
    end do
  end subroutine relax
end program stencil
