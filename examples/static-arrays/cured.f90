! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! static-arrays, cured: the threads that use the arrays fill them.
!
! usage: static-arrays-f-cured [sweeps]
module fields
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  integer, parameter :: cells = 2**20 ! 8 MiB an array
  real(real64) :: field(cells)
end module fields

program static_arrays
  use command_line
  use fields
  implicit none
  character(len=*), parameter :: name = "static-arrays-f-cured", usage = "[sweeps]"
  real(real64) :: weight(cells)
  common /weights/ weight
  integer :: i, sweep, sweeps
  real(real64) :: start, total

  sweeps = number_at(name, usage, 1, 3, 1000000, 1)

  !$omp parallel do schedule(static)
  do i = 1, cells
    field(i) = 0
    weight(i) = mod(i - 1, 4)
  end do

  total = 0
  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static) reduction(+: total)
    do i = 1, cells
      field(i) = field(i) + weight(i) ! use
      total = total + field(i)
    end do
  end do
  call print_result(name, total, sweeps, omp_get_wtime() - start)
end program static_arrays
