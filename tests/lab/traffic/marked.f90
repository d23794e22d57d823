! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
program marked
  use nodewise_marker
  implicit none
  integer, parameter :: n = 2**22
  real(8), allocatable :: array(:)
  real(8) :: total
  integer :: i, sweep
  allocate(array(n))
  array = 1
  call nodewise_marker_use()
  total = 0
  call nodewise_marker_start('from Fortran')
  do sweep = 1, 2
    !$omp parallel do schedule(static) reduction(+:total)
    do i = 1, n
      total = total + array(i)
    end do
  end do
  call nodewise_marker_stop('from Fortran')
  print *, total
end program marked
