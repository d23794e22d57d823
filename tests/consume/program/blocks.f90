! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! Threads of OpenMP and an array with a block for each; docs/library.md shows it.
program blocks
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use omp_lib, only: omp_get_thread_num
  use nodewise
  implicit none
  integer(int64), parameter :: n = 1000000
  integer(int64) :: i
  type(nodewise_layout) :: team
  type(nodewise_distribution) :: by
  type(nodewise_memory) :: memory
  real(real64), pointer :: a(:)

  call nodewise_make_layout(team)           ! a thread a core
  call nodewise_blocked(by, team)           ! a block for each
  call nodewise_allocate(a, n, by, memory)
  !$omp parallel num_threads(nodewise_threads(team))
  call nodewise_bind_thread(team, omp_get_thread_num())
  !$omp do schedule(static)
  do i = 1, n
    a(i) = 0.5_real64 * real(i, real64)
  end do
  !$omp end parallel
  print '(a)', nodewise_strip(memory, 48)

  if (abs(a(n) - 500000) > 0) error stop 'the loop left elements out'
  call nodewise_deallocate(memory)
  call nodewise_free(by)
  call nodewise_free(team)
end program blocks
