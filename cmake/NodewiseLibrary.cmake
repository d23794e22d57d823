# The public library: the rooms topology, model, place, bind, parallel and sparse behind one soname.
set(_objects)
foreach(room base sys topology topology_hwloc model place bind parallel sparse c)
  list(APPEND _objects $<TARGET_OBJECTS:nodewise_${room}>)
endforeach()
add_library(nodewise SHARED src/base/version.cpp ${_objects})
add_library(nodewise::nodewise ALIAS nodewise)
target_link_libraries(nodewise PRIVATE nodewise_options PkgConfig::hwloc PkgConfig::hwy)
target_include_directories(nodewise PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_BINARY_DIR}/include)
set_target_properties(nodewise PROPERTIES
  LINKER_LANGUAGE CXX
  VERSION ${PROJECT_VERSION}
  # Before 1.0 every minor version may break the interface; the inline namespace says the same.
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(nodewise INTERFACE cxx_std_20)
target_include_directories(nodewise INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/include>
  $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)

# Threads are the program's own runtime's, so these two are headers with what they need to link.
find_package(OpenMP COMPONENTS CXX)
find_package(TBB 2021)
add_library(nodewise_openmp INTERFACE)
add_library(nodewise_tbb INTERFACE)
foreach(runtime openmp tbb)
  add_library(nodewise::${runtime} ALIAS nodewise_${runtime})
  set_target_properties(nodewise_${runtime} PROPERTIES EXPORT_NAME ${runtime})
  target_link_libraries(nodewise_${runtime} INTERFACE nodewise)
endforeach()
target_link_libraries(nodewise_openmp INTERFACE OpenMP::OpenMP_CXX)
target_link_libraries(nodewise_tbb INTERFACE TBB::tbb)

# A module file is one compiler version's own, so programs compile the module with their own.
add_library(nodewise_fortran INTERFACE)
add_library(nodewise::fortran ALIAS nodewise_fortran)
set_target_properties(nodewise_fortran PROPERTIES EXPORT_NAME fortran)
target_link_libraries(nodewise_fortran INTERFACE nodewise)
foreach(module nodewise nodewise_matrices nodewise_sparse)
  target_sources(nodewise_fortran INTERFACE
    $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include/nodewise/${module}.f90>
    $<INSTALL_INTERFACE:$<INSTALL_PREFIX>/${CMAKE_INSTALL_INCLUDEDIR}/nodewise/${module}.f90>)
endforeach()

install(TARGETS nodewise nodewise_openmp nodewise_tbb nodewise_fortran EXPORT nodewise-targets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/nodewise ${PROJECT_BINARY_DIR}/include/nodewise
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(FILES ${PROJECT_SOURCE_DIR}/include/nodewise.h DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT nodewise-targets NAMESPACE nodewise::
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nodewise)

include(CMakePackageConfigHelpers)
configure_package_config_file(cmake/nodewise-config.cmake.in
  ${CMAKE_BINARY_DIR}/nodewise-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nodewise PATH_VARS CMAKE_INSTALL_BINDIR)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/nodewise-config-version.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/nodewise-config.cmake ${CMAKE_BINARY_DIR}/nodewise-config-version.cmake
  cmake/nodewise-lab-test.cmake
  DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/nodewise)
# Relative to the file: `make install PREFIX=...` decides the prefix long after this runs.
file(RELATIVE_PATH NODEWISE_PC_TO_PREFIX /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
configure_file(cmake/nodewise.pc.in ${CMAKE_BINARY_DIR}/nodewise.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/nodewise.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
