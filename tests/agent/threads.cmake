# Programs with threads, static arrays and OpenMP, and their tests.
foreach(_name thread_promises thread_places static_arrays plugin_host)
  add_executable(nodewise_agent_${_name} ${_name}.c)
  target_compile_options(nodewise_agent_${_name} PRIVATE ${_warnings})
  target_link_libraries(nodewise_agent_${_name} PRIVATE Threads::Threads ${CMAKE_DL_LIBS})
  set_target_properties(nodewise_agent_${_name} PROPERTIES
    OUTPUT_NAME ${_name} RUNTIME_OUTPUT_DIRECTORY ${_folder})
endforeach()
# dlsym gives functions as data pointers, which ISO C does not know.
target_compile_options(nodewise_agent_plugin_host PRIVATE -Wno-pedantic)

add_executable(nodewise_agent_std_threads std_threads.cpp)
target_compile_features(nodewise_agent_std_threads PRIVATE cxx_std_20)
target_compile_options(nodewise_agent_std_threads PRIVATE ${_warnings})
target_link_libraries(nodewise_agent_std_threads PRIVATE Threads::Threads)
set_target_properties(nodewise_agent_std_threads PROPERTIES
  OUTPUT_NAME std_threads RUNTIME_OUTPUT_DIRECTORY ${_folder})

add_library(nodewise_agent_openmp_stub SHARED openmp_stub.c)
add_executable(nodewise_agent_openmp_doors openmp_doors.c)
target_link_libraries(nodewise_agent_openmp_doors PRIVATE nodewise_agent_openmp_stub)
add_library(nodewise_agent_static_plugin MODULE static_plugin.c)
set_target_properties(nodewise_agent_openmp_stub nodewise_agent_openmp_doors
  nodewise_agent_static_plugin PROPERTIES
  PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${_folder} LIBRARY_OUTPUT_DIRECTORY ${_folder})
set_target_properties(nodewise_agent_openmp_doors PROPERTIES OUTPUT_NAME openmp_doors)
set_target_properties(nodewise_agent_static_plugin PROPERTIES OUTPUT_NAME static_plugin)
foreach(_name openmp_stub openmp_doors static_plugin)
  target_compile_options(nodewise_agent_${_name} PRIVATE ${_warnings})
endforeach()

# GCC's OpenMP and Fortran: these programs are about what that compiler generates.
if(CMAKE_C_COMPILER_ID STREQUAL "GNU")
  find_package(OpenMP REQUIRED COMPONENTS C)
  add_executable(nodewise_agent_openmp_regions openmp_regions.c)
  add_library(nodewise_agent_openmp_plugin MODULE openmp_plugin.c)
  set_target_properties(nodewise_agent_openmp_regions nodewise_agent_openmp_plugin PROPERTIES
    PREFIX "" RUNTIME_OUTPUT_DIRECTORY ${_folder} LIBRARY_OUTPUT_DIRECTORY ${_folder})
  set_target_properties(nodewise_agent_openmp_regions PROPERTIES OUTPUT_NAME openmp_regions)
  set_target_properties(nodewise_agent_openmp_plugin PROPERTIES OUTPUT_NAME openmp_plugin)
  foreach(_name openmp_regions openmp_plugin)
    target_compile_options(nodewise_agent_${_name} PRIVATE ${_warnings})
    target_link_libraries(nodewise_agent_${_name} PRIVATE OpenMP::OpenMP_C)
  endforeach()
  include(CheckLanguage)
  check_language(Fortran)
  if(CMAKE_Fortran_COMPILER)
    enable_language(Fortran)
    add_executable(nodewise_agent_static_common static_common.f90 print_array.c)
    set_target_properties(nodewise_agent_static_common PROPERTIES
      OUTPUT_NAME static_common RUNTIME_OUTPUT_DIRECTORY ${_folder}
      Fortran_MODULE_DIRECTORY ${CMAKE_CURRENT_BINARY_DIR}/static_common.modules)
  endif()
endif()

nodewise_python_test(agent_threads FILE ${CMAKE_CURRENT_SOURCE_DIR}/threads_test.py LABELS agent)
nodewise_python_test(agent_statics FILE ${CMAKE_CURRENT_SOURCE_DIR}/statics_test.py LABELS agent)
