# Copyright the Nodewise authors. SPDX-License-Identifier: Apache-2.0
"""A rank of an MPI program: adds up all ranks' numbers by MPI_Allreduce, and prints its host and the sum.

The argument is the MPI to load, openmpi or mpich: by ctypes, so that one file serves both without a compiler of theirs.
"""

import ctypes
import os
import sys


def open_mpi():
    library = ctypes.CDLL("libmpi.so.40", mode=ctypes.RTLD_GLOBAL)
    handles = ("ompi_mpi_int", "ompi_mpi_op_sum", "ompi_mpi_comm_world")
    return library, [ctypes.byref(ctypes.c_char.in_dll(library, name)) for name in handles]


def mpich():
    # MPI_INT, MPI_SUM and MPI_COMM_WORLD are numbers of its binary interface.
    return ctypes.CDLL("libmpich.so.12"), [ctypes.c_int(handle) for handle in (0x4C000405, 0x58000003, 0x44000000)]


library, (integer, add, world) = {"openmpi": open_mpi, "mpich": mpich}[sys.argv[1]]()
library.MPI_Init(None, None)
rank, total = ctypes.c_int(), ctypes.c_int()
library.MPI_Comm_rank(world, ctypes.byref(rank))
library.MPI_Allreduce(ctypes.byref(rank), ctypes.byref(total), 1, integer, add, world)
print(f"rank {rank.value} on {os.uname().nodename}: {total.value}", flush=True)
library.MPI_Finalize()
