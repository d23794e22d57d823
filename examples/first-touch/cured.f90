! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! first-touch, cured in the source: the threads that work on the arrays fill them, by the same
! schedule. Each page lives on the node of the thread that uses it.
!
! usage: first-touch-cured-f [MiB per array] [sweeps]
program first_touch
  use first_touch_support
  implicit none
  real(real32), allocatable, target :: a(:), b(:), c(:)
  integer(int64) :: i, n
  integer :: sweep, sweeps
  real(real64) :: start

  call read_arguments(n, sweeps)
  allocate (a(n), b(n), c(n))

  !$omp parallel do schedule(static)
  do i = 1, n
    a(i) = 0.0
    b(i) = 1.0
    c(i) = 2.0
  end do

  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static)
    do i = 1, n
      a(i) = a(i) + b(i) * c(i)
    end do
  end do
  call print_result(n, sweeps, omp_get_wtime() - start, a)

  call where_is("a", a)
  call where_is("b", b)
  call where_is("c", c)
end program first_touch
