! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! Arrays as Fortran programs make them, all filled by the first thread and used by all.
program arrays
  use, intrinsic :: iso_c_binding
  use, intrinsic :: iso_fortran_env, only: real64
  implicit none
  interface
    subroutine report_array(name, array, elements, element_bytes) bind(c)
      import :: c_char, c_ptr, c_size_t
      character(kind=c_char), intent(in) :: name(*)
      type(c_ptr), value :: array
      integer(c_size_t), value :: elements, element_bytes
    end subroutine
    subroutine use_array(array, elements) bind(c)
      import :: c_ptr, c_size_t
      type(c_ptr), value :: array
      integer(c_size_t), value :: elements
    end subroutine
  end interface
  integer, parameter :: elements = 2*1024*1024
  real(real64), allocatable, target :: allocated(:), matrix(:, :)
  real(real64), pointer :: by_pointer(:)
  real(real64), target :: saved(elements)
  real(real64), target :: field(elements)
  common /ground/ field
  save :: saved

  allocate (allocated(elements), matrix(1024, elements/1024), by_pointer(elements))
  allocated = 1
  matrix = 1
  by_pointer = 1
  saved = 1
  field = 1
  call report("allocate", c_loc(allocated))
  call report("matrix", c_loc(matrix))
  call report("pointer", c_loc(by_pointer))
  call report("save", c_loc(saved))
  call report("common", c_loc(field))

contains

  subroutine report(name, array)
    character(*), intent(in) :: name
    type(c_ptr), intent(in) :: array
    call use_array(array, int(elements, c_size_t))
    call report_array(name//c_null_char, array, int(elements, c_size_t), 8_c_size_t)
  end subroutine
end program
