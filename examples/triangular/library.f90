! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! triangular with the library, in Fortran: chunks of rows are dealt round the threads' nodes, as
! schedule(static, chunk) deals them round the threads. One thread may fill the matrix. Fortran keeps a
! column in one piece, so columns are what C calls rows, each of whole pages.
!
! usage: triangular-library-f [rows] [sweeps] [rows per chunk]
program triangular
  use omp_lib, only: omp_get_thread_num, omp_set_num_threads
  use command_line
  use nodewise
  implicit none
  character(len=*), parameter :: name = "triangular-library-f", &
    usage = "[rows] [sweeps] [rows per chunk]"
  integer, parameter :: page_reals = 512
  type(nodewise_layout) :: team
  type(nodewise_distribution) :: by
  type(nodewise_memory) :: memory
  real(real64), pointer :: all(:), a(:, :)
  real(real64), allocatable :: x(:)
  integer :: n, stride, chunk, row, k, sweep, sweeps
  real(real64) :: start, total

  n = number_at(name, usage, 1, 1024, 2**20, 3)
  sweeps = number_at(name, usage, 2, 3, 1000000, 3)
  chunk = number_at(name, usage, 3, 4, 2**20, 3)
  stride = (n + page_reals - 1) / page_reals * page_reals

  call nodewise_make_layout(team) ! a thread a core
  call nodewise_block_cyclic(by, [(nodewise_node(team, k), k=0, nodewise_threads(team) - 1)], &
    chunk * stride / page_reals)
  call omp_set_num_threads(nodewise_threads(team))
  !$omp parallel
  call nodewise_bind_thread(team, omp_get_thread_num())
  !$omp end parallel
  call nodewise_allocate(all, int(stride, int64) * n, by, memory)
  a(1:stride, 1:n) => all
  x = [(real(mod(k, 4), real64), k=0, n - 1)]

  do row = 1, n
    a(:row, row) = 1
  end do

  total = 0
  start = omp_get_wtime()
  do sweep = 1, sweeps
    !$omp parallel do schedule(static, chunk) reduction(+: total)
    do row = 1, n
      total = total + dot_product(a(:row, row), x(:row))
    end do
  end do
  call print_result(name, total, sweeps, omp_get_wtime() - start)
  call nodewise_deallocate(memory)
end program triangular
