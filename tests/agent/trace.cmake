# What the agent records in trace mode: allocations, stacks and pages of objects, and system calls that write
# into them, in programs that are built as distributions do it and as they do not.
foreach(_name traced rows reads)
  add_executable(nodewise_agent_of_${_name} ${_name}.c)
  set_target_properties(nodewise_agent_of_${_name} PROPERTIES OUTPUT_NAME ${_name})
endforeach()
add_executable(nodewise_agent_of_reads_fortified reads_fortified.c)
set_target_properties(nodewise_agent_of_reads_fortified PROPERTIES OUTPUT_NAME reads_fortified)
target_compile_options(nodewise_agent_of_reads_fortified PRIVATE
  -O2 -U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2)
foreach(_name traced rows reads reads_fortified)
  target_compile_options(nodewise_agent_of_${_name} PRIVATE ${_warnings} -fno-builtin)
  target_link_libraries(nodewise_agent_of_${_name} PRIVATE Threads::Threads)
  set_target_properties(nodewise_agent_of_${_name} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${_folder})
endforeach()

# Memory that the library in a program places.
add_executable(nodewise_agent_of_library_arrays library_arrays.cpp)
target_link_libraries(nodewise_agent_of_library_arrays PRIVATE nodewise nodewise_options)
set_target_properties(nodewise_agent_of_library_arrays PROPERTIES
  OUTPUT_NAME library_arrays RUNTIME_OUTPUT_DIRECTORY ${_folder})
add_executable(nodewise_agent_of_library_sites library_sites.cpp)
target_link_libraries(nodewise_agent_of_library_sites PRIVATE nodewise nodewise_options)
target_compile_options(nodewise_agent_of_library_sites PRIVATE -O0 -g)
set_target_properties(nodewise_agent_of_library_sites PROPERTIES
  OUTPUT_NAME library_sites RUNTIME_OUTPUT_DIRECTORY ${_folder})
# Agents and libraries of other versions meet in one process.
add_executable(nodewise_agent_of_older_library older_library.c)
target_compile_options(nodewise_agent_of_older_library PRIVATE ${_warnings} -g)
set_target_properties(nodewise_agent_of_older_library PROPERTIES
  OUTPUT_NAME older_library RUNTIME_OUTPUT_DIRECTORY ${_folder})
add_library(nodewise_older_agent MODULE older_agent.c)
target_compile_options(nodewise_older_agent PRIVATE ${_warnings})
set_target_properties(nodewise_older_agent PROPERTIES
  PREFIX "" OUTPUT_NAME older_agent LIBRARY_OUTPUT_DIRECTORY ${_folder})
nodewise_python_test(agent_library_sites FILE ${CMAKE_CURRENT_SOURCE_DIR}/library_sites_test.py LABELS agent)

# Who unwinds the copies of stacks.
pkg_check_modules(elfutils REQUIRED IMPORTED_TARGET libdw libelf)
add_executable(nodewise_agent_unwind unwind.cpp)
target_link_libraries(nodewise_agent_unwind PRIVATE nodewise_options nodewise_launch PkgConfig::elfutils)
set_target_properties(nodewise_agent_unwind PROPERTIES
  OUTPUT_NAME unwind RUNTIME_OUTPUT_DIRECTORY ${_folder})

nodewise_python_test(agent_trace FILE ${CMAKE_CURRENT_SOURCE_DIR}/trace_test.py LABELS agent)
