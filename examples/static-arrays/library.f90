! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! static-arrays with the library, in Fortran: the module has pointers instead of arrays, and the array
! of the COMMON block is one of them. All else is as it was: array elements are written as before, and
! by one thread.
!
! usage: static-arrays-library-f [sweeps]
module fields
  use, intrinsic :: iso_fortran_env, only: int64, real64
  implicit none
  integer(int64), parameter :: cells = 2**20 ! 8 MiB an array
  real(real64), pointer :: field(:), weight(:)
end module fields

program static_arrays
  use omp_lib, only: omp_get_thread_num, omp_set_num_threads
  use command_line
  use fields
  use nodewise
  implicit none
  character(len=*), parameter :: name = "static-arrays-library-f", usage = "[sweeps]"
  type(nodewise_layout) :: team
  type(nodewise_distribution) :: by
  type(nodewise_memory) :: memory(2)
  integer(int64) :: i
  integer :: sweep, sweeps
  real(real64) :: start, total

  sweeps = number_at(name, usage, 1, 3, 1000000, 1)

  call nodewise_make_layout(team) ! a thread a core
  call nodewise_blocked(by, team)
  call omp_set_num_threads(nodewise_threads(team))
  !$omp parallel
  call nodewise_bind_thread(team, omp_get_thread_num())
  !$omp end parallel
  call nodewise_allocate(field, cells, by, memory(1))
  call nodewise_allocate(weight, cells, by, memory(2))

  do i = 1, cells
    field(i) = 0
    weight(i) = mod(i - 1, 4_int64)
  end do

  total = 0
  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static) reduction(+: total)
    do i = 1, cells
      field(i) = field(i) + weight(i)
      total = total + field(i)
    end do
  end do
  call print_result(name, total, sweeps, omp_get_wtime() - start)
end program static_arrays
