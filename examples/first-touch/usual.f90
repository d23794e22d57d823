! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! first-touch, as it is usually written: array syntax fills the arrays with one thread, all threads
! work on them. Every page lives on the first thread's node.
!
! usage: first-touch-f [MiB per array] [sweeps]
program first_touch
  use first_touch_support
  implicit none
  real(real32), allocatable, target :: a(:), b(:), c(:)
  integer(int64) :: i, n
  integer :: sweep, sweeps
  real(real64) :: start

  call read_arguments(n, sweeps)
  allocate (a(n), b(n), c(n)) ! made

  a = 0.0 ! touch: a
  b = 1.0 ! touch: b
  c = 2.0 ! touch: c

  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static)
    do i = 1, n
      a(i) = a(i) + b(i) * c(i) ! use
    end do
  end do
  call print_result(n, sweeps, omp_get_wtime() - start, a)

  call where_is("a", a)
  call where_is("b", b)
  call where_is("c", c)
end program first_touch
