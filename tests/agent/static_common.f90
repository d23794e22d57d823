! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! static_common NODES: COMMON blocks of one array and of several, and a module's array, written by one
! thread; prints where their pages are.
module fields
  use, intrinsic :: iso_c_binding
  implicit none
  integer, parameter :: n = 2**21
  real(c_double) :: density(n)
  interface
    subroutine print_array(name, start, bytes, nodes) bind(c)
      import :: c_char, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: start
      integer(c_size_t), value :: bytes, nodes
    end subroutine
  end interface
end module

program static_common
  use fields
  implicit none
  real(c_double), target :: one(n), first(n), second(n)
  common /single/ one
  common /several/ first, second
  character(len=16) :: argument
  integer(c_size_t) :: nodes
  call get_command_argument(1, argument)
  read (argument, *) nodes
  one = 1
  first = 2
  second = 3
  density = 4
  call report("single", one)
  call report("first", first)
  call report("second", second)
  call report("density", density)
contains
  subroutine report(name, array)
    character(*), intent(in) :: name
    real(c_double), target, intent(in) :: array(n)
    call print_array(name // c_null_char, c_loc(array), int(n * 8, c_size_t), nodes)
  end subroutine
end program
