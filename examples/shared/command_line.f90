! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! What all Fortran programs share and what is not their point: the words they are called with, and the
! line of result.
module command_line
  use, intrinsic :: iso_fortran_env, only: int64, real64, error_unit
  use omp_lib, only: omp_get_max_threads, omp_get_wtime
  implicit none

contains

  ! The number at a position, counted from 1, or `default` where there are fewer words; refuses what is
  ! not a number from 1 to `most`, and what follows the word at `last`.
  integer function number_at(program, usage, position, default, most, last)
    character(len=*), intent(in) :: program, usage
    integer, intent(in) :: position, default, most, last
    character(len=64) :: text
    integer :: status
    if (command_argument_count() > last) call refuse(program, usage, last + 1, "an argument of this program")
    number_at = default
    if (command_argument_count() < position) return
    call get_command_argument(position, text)
    status = verify(trim(text), "0123456789")
    if (len_trim(text) == 0) status = 1
    if (status == 0) read (text, *, iostat=status) number_at
    if (status /= 0 .or. number_at < 1 .or. number_at > most) then
      write (text, '(a, i0)') "a number from 1 to ", most
      call refuse(program, usage, position, trim(text))
    end if
  end function number_at

  subroutine refuse(program, usage, position, wanted)
    character(len=*), intent(in) :: program, usage, wanted
    integer, intent(in) :: position
    character(len=64) :: text
    call get_command_argument(position, text)
    write (error_unit, '(5a)') program, ": '", trim(text), "' is not ", wanted
    write (error_unit, '(4a)') "usage: ", program, " ", usage
    stop 2, quiet=.true.
  end subroutine refuse

  subroutine print_result(program, checksum, sweeps, elapsed)
    character(len=*), intent(in) :: program
    real(real64), intent(in) :: checksum, elapsed
    integer, intent(in) :: sweeps
    character(len=16) :: time
    write (time, '(f16.4)') elapsed / sweeps
    print '(2a, i0, a, i0, a, i0, 3a)', program, ": checksum ", nint(checksum, int64), "; ", &
      omp_get_max_threads(), " threads, ", sweeps, " sweeps, ", trim(adjustl(time)), " s each"
  end subroutine print_result
end module command_line
