! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! What the two forms of the program share and what is not their point.
module first_touch_support
  use, intrinsic :: iso_fortran_env, only: int64, real32, real64, error_unit
  use, intrinsic :: iso_c_binding, only: c_char, c_loc, c_null_char, c_ptr, c_size_t
  use omp_lib, only: omp_get_max_threads, omp_get_wtime
  implicit none

  interface
    subroutine print_where(name, array, elements, element_bytes) bind(c)
      import :: c_char, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: array
      integer(c_size_t), value :: elements, element_bytes
    end subroutine print_where
  end interface

contains

  subroutine read_arguments(n, sweeps)
    integer(int64), intent(out) :: n
    integer, intent(out) :: sweeps
    n = number_argument(1, 64) * 2_int64**20 / 4
    sweeps = number_argument(2, 3)
  end subroutine read_arguments

  integer function number_argument(position, default)
    integer, intent(in) :: position, default
    character(len=32) :: text
    integer :: status
    number_argument = default
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    read (text, *, iostat=status) number_argument
    if (status /= 0 .or. number_argument < 1) then
      write (error_unit, '(3a)') "first-touch: '", trim(text), "' is not a number above 0"
      write (error_unit, '(a)') "usage: first-touch-f [MiB per array] [sweeps]"
      stop 2
    end if
  end function number_argument

  subroutine print_result(n, sweeps, elapsed, a)
    integer(int64), intent(in) :: n
    integer, intent(in) :: sweeps
    real(real64), intent(in) :: elapsed
    real(real32), intent(in) :: a(:)
    print '(i0, a, i0, a, i0, a, f0.4, a, f0.0, a, f0.0, a)', omp_get_max_threads(), " threads, ", &
      sweeps, " sweeps over 3 x ", n / 2_int64**18, " MiB: ", elapsed / sweeps, " s each (a: ", &
      a(1), " to ", a(n), ")"
    flush (6)
  end subroutine print_result

  subroutine where_is(name, array)
    character(len=*), intent(in) :: name
    real(real32), intent(in), target, contiguous :: array(:)
    call print_where(name // c_null_char, c_loc(array), size(array, kind=c_size_t), 4_c_size_t)
  end subroutine where_is
end module first_touch_support
