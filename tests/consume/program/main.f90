! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
program consumer
  use, intrinsic :: iso_fortran_env, only: int64, real64
  use nodewise
  implicit none
  type(nodewise_layout) :: team
  type(nodewise_distribution) :: by
  type(nodewise_memory) :: memory
  type(nodewise_residency) :: where
  real(real64), pointer :: a(:), rows(:, :)
  integer :: stat

  call nodewise_make_layout(team)
  call nodewise_blocked(by, team)
  call nodewise_allocate(a, 1000000_int64, by, memory)
  if (any(abs(a) > 0)) error stop 'fresh memory is not zero'
  rows(1:1000, 1:1000) => a
  rows = 1
  call nodewise_where(memory, where)
  print '(a)', nodewise_strip(memory, 32)
  if (where%resident /= where%pages) error stop 'pages are missing'
  call nodewise_deallocate(memory)
  call nodewise_free(by)

  call nodewise_bound(by, -1, stat)
  if (stat == 0 .or. len(nodewise_error()) == 0) error stop 'a failure without a reason'
  call nodewise_free(team)
end program consumer
