! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
program loop
  implicit none
  integer, parameter :: n = 2**21
  real(8), allocatable :: array(:)
  real(8) :: total
  integer :: i, sweep
  total = 0
  allocate(array(n))  ! the array
  do i = 1, n
    array(i) = i
  end do
  do sweep = 1, 3
    !$omp parallel do reduction(+:total)
    do i = 1, n
      total = total + array(i)  ! the loop
    end do
  end do
  print *, total
end program loop
