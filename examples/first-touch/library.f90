! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! first-touch with the library, in Fortran: arrays are pointers into memory that has a block for each
! thread. Array syntax fills them with one thread as before: the policy beats the touch.
!
! usage: first-touch-library-f [MiB per array] [sweeps]
program first_touch
  use, intrinsic :: iso_fortran_env, only: real32
  use omp_lib, only: omp_get_thread_num, omp_set_num_threads
  use command_line
  use nodewise
  implicit none
  character(len=*), parameter :: name = "first-touch-library-f", usage = "[MiB per array] [sweeps]"
  type(nodewise_layout) :: team
  type(nodewise_distribution) :: by
  type(nodewise_memory) :: memory(3)
  real(real32), pointer :: a(:), b(:), c(:)
  integer(int64) :: i, n
  integer :: array, sweep, sweeps
  real(real64) :: start

  n = number_at(name, usage, 1, 64, 2**20, 2) * 2_int64**20 / 4
  sweeps = number_at(name, usage, 2, 3, 1000000, 2)

  call nodewise_make_layout(team) ! a thread a core
  call nodewise_blocked(by, team)
  call omp_set_num_threads(nodewise_threads(team))
  !$omp parallel
  call nodewise_bind_thread(team, omp_get_thread_num())
  !$omp end parallel
  call nodewise_allocate(a, n, by, memory(1))
  call nodewise_allocate(b, n, by, memory(2))
  call nodewise_allocate(c, n, by, memory(3))

  a = 0.0
  b = 1.0
  c = 2.0

  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static)
    do i = 1, n
      a(i) = a(i) + b(i) * c(i)
    end do
  end do
  call print_result(name, real(a(1) + a(n), real64), sweeps, omp_get_wtime() - start)

  do array = 1, 3
    print '(2a)', "abc"(array:array) // "  ", nodewise_strip(memory(array), 48)
    call nodewise_deallocate(memory(array))
  end do
  call nodewise_free(by)
  call nodewise_free(team)
end program first_touch
