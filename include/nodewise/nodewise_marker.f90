! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! Marks for the lab's traffic counter, as marker.h describes them. Link the object made from it:
!
!     cc -c -x c -DNODEWISE_MARKER_FUNCTIONS nodewise/marker.h -o nodewise_marker_c.o
module nodewise_marker
  use, intrinsic :: iso_c_binding, only: c_char, c_null_char
  implicit none
  private
  public :: nodewise_marker_start, nodewise_marker_stop, nodewise_marker_use

  interface
    subroutine start_c(name) bind(c, name='nodewise_marker_start_c')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine start_c
    subroutine stop_c(name) bind(c, name='nodewise_marker_stop_c')
      import :: c_char
      character(kind=c_char), intent(in) :: name(*)
    end subroutine stop_c
    !> All that follows is use, no longer initialisation.
    subroutine nodewise_marker_use() bind(c, name='nodewise_marker_use_c')
    end subroutine nodewise_marker_use
  end interface

contains

  !> Opens the region of that name.
  subroutine nodewise_marker_start(name)
    character(len=*), intent(in) :: name
    call start_c(trim(name) // c_null_char)
  end subroutine nodewise_marker_start

  !> Closes it.
  subroutine nodewise_marker_stop(name)
    character(len=*), intent(in) :: name
    call stop_c(trim(name) // c_null_char)
  end subroutine nodewise_marker_stop

end module nodewise_marker
