! Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
!
! Nodewise for Fortran 2008, over the C interface: compile this file with your program and link
! -lnodewise.
!
! Subroutines with a `stat` return 0, or 1 if they failed; without it a failure stops the program
! with the reason, as ALLOCATE does. `nodewise_error()` is that reason.
module nodewise
  use, intrinsic :: iso_c_binding, only: c_associated, c_char, c_f_pointer, c_int, c_null_char, &
    c_null_ptr, c_ptr, c_size_t
  use, intrinsic :: iso_fortran_env, only: error_unit, int32, int64, real32, real64
  implicit none
  private
  public :: nodewise_allocate, nodewise_bind_thread, nodewise_block_cyclic, nodewise_blocked, &
    nodewise_bound, nodewise_check, nodewise_deallocate, nodewise_distribution, nodewise_error, &
    nodewise_free, nodewise_layout, nodewise_make_layout, nodewise_memory, nodewise_migrate, nodewise_node, &
    nodewise_residency, nodewise_strip, nodewise_threads, nodewise_where
  public :: nodewise_close, nodewise_spread

  integer(c_int), parameter :: nodewise_close = 0  !< one node after the other, core by core
  integer(c_int), parameter :: nodewise_spread = 1 !< evenly over all nodes

  !> Which thread of a team runs where.
  type :: nodewise_layout
    type(c_ptr) :: handle = c_null_ptr !< for nodewise_sparse.f90
  end type nodewise_layout

  !> Which node owns which page.
  type :: nodewise_distribution
    type(c_ptr) :: handle = c_null_ptr !< for nodewise_sparse.f90
  end type nodewise_distribution

  !> The memory of an array that was allocated here.
  type :: nodewise_memory
    private
    type(c_ptr) :: handle = c_null_ptr
  end type nodewise_memory

  !> Asked against actual, in base pages.
  type, bind(c) :: nodewise_residency
    integer(c_size_t) :: pages    !< of the array's memory
    integer(c_size_t) :: resident !< in memory
    integer(c_size_t) :: on_owner !< in memory, on the node that owns them
    integer(c_size_t) :: unknown  !< in memory, but on an unknown node
  end type nodewise_residency

  !> `call nodewise_allocate(a, n, by, memory)`: a pointer to n elements, zero, with a
  !> distribution; `memory` must hold nothing yet. Other ranks by remapping:
  !> `b(1:rows, 1:columns) => a`.
  interface nodewise_allocate
    module procedure allocate_real64, allocate_real32, allocate_int64, allocate_int32
  end interface nodewise_allocate

  !> Gives a layout or a distribution back; memory keeps what it needs of them.
  interface nodewise_free
    module procedure free_layout, free_distribution
  end interface nodewise_free

  interface
    type(c_ptr) function error_c() bind(c, name='nodewise_error')
      import :: c_ptr
    end function error_c
    integer(c_int) function layout_make_c(made, how, threads) bind(c, name='nodewise_layout_make')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(out) :: made
      integer(c_int), value :: how
      integer(c_size_t), value :: threads
    end function layout_make_c
    subroutine layout_free_c(layout) bind(c, name='nodewise_layout_free')
      import :: c_ptr
      type(c_ptr), value :: layout
    end subroutine layout_free_c
    pure integer(c_size_t) function layout_threads_c(layout) bind(c, name='nodewise_layout_threads')
      import :: c_ptr, c_size_t
      type(c_ptr), value :: layout
    end function layout_threads_c
    pure integer(c_int) function layout_node_c(layout, thread) bind(c, name='nodewise_layout_node')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: layout
      integer(c_size_t), value :: thread
    end function layout_node_c
    integer(c_int) function bind_thread_c(layout, thread) bind(c, name='nodewise_bind_thread')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), value :: layout
      integer(c_size_t), value :: thread
    end function bind_thread_c
    integer(c_int) function bound_c(made, node) bind(c, name='nodewise_bound')
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: made
      integer(c_int), value :: node
    end function bound_c
    integer(c_int) function blocked_c(made, layout) bind(c, name='nodewise_blocked_by_threads')
      import :: c_int, c_ptr
      type(c_ptr), intent(out) :: made
      type(c_ptr), value :: layout
    end function blocked_c
    integer(c_int) function block_cyclic_c(made, nodes, count, block_pages) &
        bind(c, name='nodewise_block_cyclic')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(out) :: made
      integer(c_int), intent(in) :: nodes(*)
      integer(c_size_t), value :: count, block_pages
    end function block_cyclic_c
    subroutine distribution_free_c(by) bind(c, name='nodewise_distribution_free')
      import :: c_ptr
      type(c_ptr), value :: by
    end subroutine distribution_free_c
    integer(c_int) function region_make_c(made, bytes, by, how) bind(c, name='nodewise_region_make')
      import :: c_int, c_ptr, c_size_t
      type(c_ptr), intent(out) :: made
      integer(c_size_t), value :: bytes
      type(c_ptr), value :: by
      integer(c_int), value :: how
    end function region_make_c
    subroutine region_free_c(region) bind(c, name='nodewise_region_free')
      import :: c_ptr
      type(c_ptr), value :: region
    end subroutine region_free_c
    type(c_ptr) function region_data_c(region) bind(c, name='nodewise_region_data')
      import :: c_ptr
      type(c_ptr), value :: region
    end function region_data_c
    integer(c_int) function region_migrate_c(region, by) bind(c, name='nodewise_region_migrate')
      import :: c_int, c_ptr
      type(c_ptr), value :: region, by
    end function region_migrate_c
    integer(c_int) function where_c(region, found) bind(c, name='nodewise_where')
      import :: c_int, c_ptr, nodewise_residency
      type(c_ptr), value :: region
      type(nodewise_residency), intent(out) :: found
    end function where_c
    integer(c_int) function strip_c(region, columns, text, room) bind(c, name='nodewise_strip')
      import :: c_char, c_int, c_ptr, c_size_t
      type(c_ptr), value :: region
      integer(c_size_t), value :: columns, room
      character(kind=c_char), intent(out) :: text(*)
    end function strip_c
  end interface

contains

  !> What the last failure of this thread was: asked, answered, what to do.
  function nodewise_error() result(text)
    character(len=:), allocatable :: text
    character(kind=c_char), pointer :: letters(:)
    integer, parameter :: longest = 4096

    call c_f_pointer(error_c(), letters, [longest])
    text = text_of(letters)
  end function nodewise_error

  !> Threads over the processors that this process may use; `threads` 0, or left out: one a core.
  subroutine nodewise_make_layout(layout, how, threads, stat)
    type(nodewise_layout), intent(inout) :: layout
    integer(c_int), intent(in), optional :: how
    integer, intent(in), optional :: threads
    integer, intent(out), optional :: stat
    integer(c_int) :: policy
    integer(c_size_t) :: wanted

    policy = nodewise_close
    if (present(how)) policy = how
    wanted = 0
    if (present(threads)) wanted = int(threads, c_size_t)
    call nodewise_check(layout_make_c(layout%handle, policy, wanted), stat)
  end subroutine nodewise_make_layout

  !> How many threads a layout has.
  pure integer function nodewise_threads(layout)
    type(nodewise_layout), intent(in) :: layout

    nodewise_threads = int(layout_threads_c(layout%handle))
  end function nodewise_threads

  !> The node of a thread, counted from 0 as omp_get_thread_num does; -1 if there is no such thread.
  pure integer function nodewise_node(layout, thread)
    type(nodewise_layout), intent(in) :: layout
    integer, intent(in) :: thread

    nodewise_node = int(layout_node_c(layout%handle, int(thread, c_size_t)))
  end function nodewise_node

  !> Binds the calling thread as thread k, counted from 0.
  subroutine nodewise_bind_thread(layout, thread, stat)
    type(nodewise_layout), intent(in) :: layout
    integer, intent(in) :: thread
    integer, intent(out), optional :: stat

    call nodewise_check(bind_thread_c(layout%handle, int(thread, c_size_t)), stat)
  end subroutine nodewise_bind_thread

  !> Every page on one node.
  subroutine nodewise_bound(by, node, stat)
    type(nodewise_distribution), intent(inout) :: by
    integer, intent(in) :: node
    integer, intent(out), optional :: stat

    call nodewise_check(bound_c(by%handle, int(node, c_int)), stat)
  end subroutine nodewise_bound

  !> A block for each thread of a layout, on its node: what schedule(static) works on.
  subroutine nodewise_blocked(by, layout, stat)
    type(nodewise_distribution), intent(inout) :: by
    type(nodewise_layout), intent(in) :: layout
    integer, intent(out), optional :: stat

    call nodewise_check(blocked_c(by%handle, layout%handle), stat)
  end subroutine nodewise_blocked

  !> Blocks of base pages dealt round over nodes; a block of 1 is interleaving.
  subroutine nodewise_block_cyclic(by, nodes, block_pages, stat)
    type(nodewise_distribution), intent(inout) :: by
    integer, intent(in) :: nodes(:)
    integer, intent(in) :: block_pages
    integer, intent(out), optional :: stat

    call nodewise_check(block_cyclic_c(by%handle, int(nodes, c_int), size(nodes, kind=c_size_t), &
      int(block_pages, c_size_t)), stat)
  end subroutine nodewise_block_cyclic

  subroutine allocate_real64(a, n, by, memory, stat)
    real(real64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: n
    type(nodewise_distribution), intent(in) :: by
    type(nodewise_memory), intent(inout) :: memory
    integer, intent(out), optional :: stat
    type(c_ptr) :: start

    nullify (a)
    call make_memory(memory, n, storage_size(1.0_real64) / 8, by, start, stat)
    if (c_associated(start)) call c_f_pointer(start, a, [n])
  end subroutine allocate_real64

  subroutine allocate_real32(a, n, by, memory, stat)
    real(real32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: n
    type(nodewise_distribution), intent(in) :: by
    type(nodewise_memory), intent(inout) :: memory
    integer, intent(out), optional :: stat
    type(c_ptr) :: start

    nullify (a)
    call make_memory(memory, n, storage_size(1.0_real32) / 8, by, start, stat)
    if (c_associated(start)) call c_f_pointer(start, a, [n])
  end subroutine allocate_real32

  subroutine allocate_int64(a, n, by, memory, stat)
    integer(int64), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: n
    type(nodewise_distribution), intent(in) :: by
    type(nodewise_memory), intent(inout) :: memory
    integer, intent(out), optional :: stat
    type(c_ptr) :: start

    nullify (a)
    call make_memory(memory, n, storage_size(1_int64) / 8, by, start, stat)
    if (c_associated(start)) call c_f_pointer(start, a, [n])
  end subroutine allocate_int64

  subroutine allocate_int32(a, n, by, memory, stat)
    integer(int32), pointer, intent(out) :: a(:)
    integer(int64), intent(in) :: n
    type(nodewise_distribution), intent(in) :: by
    type(nodewise_memory), intent(inout) :: memory
    integer, intent(out), optional :: stat
    type(c_ptr) :: start

    nullify (a)
    call make_memory(memory, n, storage_size(1_int32) / 8, by, start, stat)
    if (c_associated(start)) call c_f_pointer(start, a, [n])
  end subroutine allocate_int32

  !> Gives the memory back; pointers into it are to be used no more.
  subroutine nodewise_deallocate(memory)
    type(nodewise_memory), intent(inout) :: memory

    call region_free_c(memory%handle)
    memory%handle = c_null_ptr
  end subroutine nodewise_deallocate

  !> Gives an array another distribution and moves what is in memory.
  subroutine nodewise_migrate(memory, by, stat)
    type(nodewise_memory), intent(in) :: memory
    type(nodewise_distribution), intent(in) :: by
    integer, intent(out), optional :: stat

    call nodewise_check(region_migrate_c(memory%handle, by%handle), stat)
  end subroutine nodewise_migrate

  !> Where the pages of an array are.
  subroutine nodewise_where(memory, found, stat)
    type(nodewise_memory), intent(in) :: memory
    type(nodewise_residency), intent(out) :: found
    integer, intent(out), optional :: stat

    found = nodewise_residency(0, 0, 0, 0)
    call nodewise_check(where_c(memory%handle, found), stat)
  end subroutine nodewise_where

  !> The same as a picture: "0000111122223333  24.0 MiB, 100 % on its owner".
  function nodewise_strip(memory, columns) result(text)
    type(nodewise_memory), intent(in) :: memory
    integer, intent(in) :: columns
    character(len=:), allocatable :: text
    character(kind=c_char) :: letters(columns + 256)

    if (strip_c(memory%handle, int(columns, c_size_t), letters, size(letters, kind=c_size_t)) /= 0) then
      text = nodewise_error()
    else
      text = text_of(letters)
    end if
  end function nodewise_strip

  !> The letters before the final 0.
  function text_of(letters) result(text)
    character(kind=c_char), intent(in) :: letters(:)
    character(len=:), allocatable :: text
    integer :: length

    length = 0
    do while (length < size(letters))
      if (letters(length + 1) == c_null_char) exit
      length = length + 1
    end do
    text = repeat(' ', length)
    if (length > 0) text = transfer(letters(1:length), text)
  end function text_of

  subroutine free_layout(layout)
    type(nodewise_layout), intent(inout) :: layout

    call layout_free_c(layout%handle)
    layout%handle = c_null_ptr
  end subroutine free_layout

  subroutine free_distribution(by)
    type(nodewise_distribution), intent(inout) :: by

    call distribution_free_c(by%handle)
    by%handle = c_null_ptr
  end subroutine free_distribution

  subroutine make_memory(memory, n, element_bytes, by, start, stat)
    type(nodewise_memory), intent(inout) :: memory
    integer(int64), intent(in) :: n
    integer, intent(in) :: element_bytes
    type(nodewise_distribution), intent(in) :: by
    type(c_ptr), intent(out) :: start
    integer, intent(out), optional :: stat
    integer(c_int), parameter :: prefer = 0

    start = c_null_ptr
    call nodewise_check(region_make_c(memory%handle, int(n, c_size_t) * int(element_bytes, c_size_t), &
      by%handle, prefer), stat)
    start = region_data_c(memory%handle)
  end subroutine make_memory

  !> For nodewise_sparse.f90: sets `stat`, or stops the program with the reason of a failure.
  subroutine nodewise_check(failed, stat)
    integer(c_int), intent(in) :: failed
    integer, intent(out), optional :: stat

    if (present(stat)) then
      stat = int(failed)
    else if (failed /= 0) then
      write (error_unit, '(2a)') 'nodewise: ', nodewise_error()
      error stop 1
    end if
  end subroutine nodewise_check

end module nodewise
