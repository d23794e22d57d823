! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
program marked_times
  use, intrinsic :: iso_fortran_env, only: int64
  use nodewise_marker
  implicit none
  integer(int64) :: before, first, last, after, now
  call system_clock(before)
  call nodewise_marker_start('work')
  call system_clock(first)
  do
    call system_clock(now)
    if (now - first >= 3000000) exit
  end do
  call system_clock(last)
  call nodewise_marker_stop('work')
  call system_clock(after)
  print '(i0, 1x, i0)', last - first, after - before
end program marked_times
